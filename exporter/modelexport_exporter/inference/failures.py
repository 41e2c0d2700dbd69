"""What is said where no inputs were found for a model; pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from modelexport_api.reasons import Reason
from modelexport_exporter.call.signature import Signature
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.inference.guess import Guesses
from modelexport_exporter.inference.refusal import Refusal
from modelexport_exporter.inference.search import Found

_TEXT = 300


def no_such_dim(unused: Sequence[str], found: Iterable[str], guesses: Guesses) -> ExportFailure:
    """Return the failure of dims that the user declares and no input has."""
    return ExportFailure(
        Reason.INPUTS_MISMATCH,
        f"no input has a dim named {', '.join(unused)}; the dims found are "
        f"{', '.join(found) or 'none'}",
        f"Use one of these names, or state the shape: {_options(guesses)}",
    )


def example_refused(signature: Signature, guesses: Guesses, refusal: Refusal) -> ExportFailure:
    """Return the failure of the user's example."""
    return ExportFailure(
        Reason.INPUTS_MISMATCH,
        f"{signature} does not accept the example ({guesses.described()}): {refusal.text[:_TEXT]}",
        "Correct the example's shapes, dtypes and values.",
    )


def values_refused(signature: Signature, guesses: Guesses, refusal: Refusal) -> ExportFailure:
    """Return the failure of random values where the user's example is accepted."""
    return ExportFailure(
        Reason.INPUTS_MISMATCH,
        f"{signature} does not accept other values of the example's shapes "
        f"({guesses.described()}): {refusal.text[:_TEXT]}",
        f"State dtype and range of the inputs: {_options(guesses)}",
    )


def none_accepted(signature: Signature, found: Found, line: str) -> ExportFailure:
    """Return the failure of a search that found nothing. `line`: the user's, which raised."""
    raised = found.refusal.text[:_TEXT] if found.refusal is not None else ""
    runs = "a trial run" if found.runs == 1 else f"{found.runs} trial runs"
    left = [one.name for one in found.guesses.inputs if one.name not in found.guesses.said]
    unstated = f" ({', '.join(left)} is not stated)" if found.guesses.said and left else ""
    return ExportFailure(
        Reason.INPUTS_MISMATCH,
        f"no inputs were found that {signature} accepts{unstated}, in {runs}; "
        f"with {found.guesses.described()} it raised {raised}" + (f" ({line})" if line else ""),
        f"State the inputs: {_options(found.guesses)}; or give an example of forward's "
        "arguments, of which those that are no tensors become constants, with "
        "--set model.exampleInputs=module:callable",
    )


def _options(guesses: Guesses) -> str:
    """Return `--input 'x:float32[batch,3,224,224]'`, for what was tried."""
    return " ".join(
        f"--input '{one.name}:{one.dtype.value}[{','.join(map(str, guesses.shape(one)))}]'"
        for one in guesses.inputs
        if one.is_tensor
    )
