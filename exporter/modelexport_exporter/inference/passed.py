"""Which parameter each input is passed to: by its name, or in order, as the export does; pure."""

from __future__ import annotations

from collections.abc import Sequence
from inspect import Parameter

from modelexport_api.nearest import did_you_mean
from modelexport_api.reasons import Reason
from modelexport_exporter.call.signature import Signature
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.proposal import StatedInput

_VARIADIC = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)


def passed_names(
    signature: Signature, stated: Sequence[StatedInput]
) -> list[tuple[str, Parameter | None]]:
    """Return the names of the inputs, in order, each with its parameter.

    Names that are no parameters are the user's own, and their inputs are passed in order: then all
    that forward requires has to be stated. Raises ExportFailure (InputsMismatch) otherwise.
    """
    parameters, names = signature.parameters, [one.name for one in stated]
    variadic = any(signature.variadic(kind) for kind in _VARIADIC)
    unknown = [name for name in names if name not in parameters]
    if not unknown or variadic:
        required = [name for name in parameters if name in names or name in signature.required]
        return [(name, parameters.get(name)) for name in (*required, *unknown)]
    ordered = signature.ordered
    if len(signature.required) <= len(names) <= len(ordered):
        return [(name, parameters[own]) for name, own in zip(names, ordered, strict=False)]
    raise _no_parameter(signature, unknown[0], names)


def _no_parameter(signature: Signature, unknown: str, names: Sequence[str]) -> ExportFailure:
    left = [name for name in signature.parameters if name not in names]
    meant = did_you_mean(unknown, left)
    return ExportFailure(
        Reason.INPUTS_MISMATCH,
        f"{signature} has no parameter {unknown}" + (f"; {meant}" if meant else ""),
        f"Name inputs as forward's parameters ({', '.join(signature.parameters)}); or state all "
        "that it requires, in order, under names of your own.",
    )
