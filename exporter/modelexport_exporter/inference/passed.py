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
    """Return the names of the inputs, in order, each with its parameter; None for a part of one.

    Names that are no parameters are the user's own, and their inputs are passed in order: then all
    that forward requires has to be stated. Raises ExportFailure (InputsMismatch) otherwise.
    """
    parameters = signature.parameters
    names: dict[str, list[str]] = {}
    for one in stated:
        names.setdefault(head_of(one.name), []).append(one.name)
    variadic = any(signature.variadic(kind) for kind in _VARIADIC)
    unknown = [head for head in names if head not in parameters]
    if not unknown or variadic:
        required = [name for name in parameters if name in names or name in signature.required]
        owners = {name: parameters.get(name) for name in (*required, *unknown)}
    elif len(signature.required) <= len(names) <= len(signature.ordered):
        pairs = zip(names, signature.ordered, strict=False)
        owners = {head: parameters[own] for head, own in pairs}
    else:
        raise _no_parameter(signature, unknown[0], [*names])
    return [
        (name, owner if name == head else None)
        for head, owner in owners.items()
        for name in names.get(head, [head])
    ]


def head_of(name: str) -> str:
    """Return the parameter that an input is a part of: `cache` for `cache.0.key`."""
    return name.partition(".")[0]


def _no_parameter(signature: Signature, unknown: str, names: Sequence[str]) -> ExportFailure:
    left = [name for name in signature.parameters if name not in names]
    meant = did_you_mean(unknown, left)
    return ExportFailure(
        Reason.INPUTS_MISMATCH,
        f"{signature} has no parameter {unknown}" + (f"; {meant}" if meant else ""),
        f"Name inputs as forward's parameters ({', '.join(signature.parameters)}); or state all "
        "that it requires, in order, under names of your own.",
    )
