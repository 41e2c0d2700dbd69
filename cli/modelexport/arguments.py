"""What the caller states of an export, as the command states it: pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from inspect import Parameter, Signature
from typing import Any

from pydantic import ValidationError

from modelexport_api.reasons import Reason
from modelexport_api.resource import ManifestError, format_errors, parse
from modelexport_api.spec import Dim
from modelexport_cli.export_error import ExportError
from modelexport_cli.export_options import Setting, parse_input
from modelexport_exporter.core.proposal import StatedInput

Arguments = tuple[tuple[Any, ...], dict[str, Any]]
"""Forward's `(args, kwargs)`."""
Sizes = Dim | Sequence[int] | int
"""Of a dynamic dim: the smallest and the largest, or the largest."""
_PAIR = 2
_KEYWORDS = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)


def arguments_of(
    args: Any,  # noqa: ANN401
    kwargs: Mapping[str, Any] | None,
    forward: Signature | None,
) -> Arguments | None:
    """Return forward's arguments; None if there are none. Raises ExportError.

    A tuple or a list has positional arguments, a mapping whose keys are parameters of forward has
    keyword arguments, and any other value is the only argument. `forward`: its signature, if it
    has one.
    """
    if forward is not None and not kwargs and _names_parameters(args, forward):
        args, kwargs = (), args
    if type(args) not in {tuple, list}:
        args = (args,)
    found = tuple(args), dict(kwargs or {})
    if found == ((), {}):
        return None
    if forward is not None:
        _check(found, forward)
    return found


def _names_parameters(args: object, forward: Signature) -> bool:
    names = {name for name, entry in forward.parameters.items() if entry.kind in _KEYWORDS}
    return isinstance(args, Mapping) and bool(args) and set(args) <= names


def _check(arguments: Arguments, forward: Signature) -> None:
    args, kwargs = arguments
    try:
        forward.bind(*args, **kwargs)
    except TypeError as error:
        raise ExportError(
            Reason.INPUTS_MISMATCH.value,
            f"forward{forward} does not take {len(args)} positional arguments"
            + (f" and {', '.join(kwargs)}" if kwargs else "")
            + f": {error}",
            "Pass positional arguments as a tuple, args=(x, y), and others as kwargs. "
            "A list that is one argument is passed in a tuple: args=([x, y],).",
        ) from None


def inputs_of(texts: Iterable[str]) -> tuple[StatedInput, ...]:
    """Return what `ids:int64[batch,seq]:0..999` states of each input. Raises ExportError."""
    try:
        return tuple(map(parse_input, [texts] if isinstance(texts, str) else texts))
    except ManifestError as error:
        raise invalid(str(error).replace("--input ", "inputs: ", 1)) from None


def dims_of(dims: Mapping[str, Sizes] | None) -> dict[str, Dim]:
    """Return the dims by their names. Raises ExportError."""
    return {name: _dim(name, sizes) for name, sizes in (dims or {}).items()}


def _dim(name: str, sizes: Sizes) -> Dim:
    if isinstance(sizes, Dim):
        return sizes
    pair = (1, sizes) if isinstance(sizes, int) else tuple(sizes)
    if len(pair) != _PAIR or not all(isinstance(size, int) for size in pair):
        raise invalid(f"dims: {name}: {sizes!r}: expected (smallest, largest), or the largest")
    low, high = pair
    if low > high:
        raise invalid(f"dims: {name}: {sizes!r}: the smallest size is larger than the largest")
    try:
        return Dim(min=low, max=high)
    except ValidationError as error:
        raise invalid(f"dims: {name}: {sizes!r}: {'; '.join(format_errors(error))}") from None


def settings_of(spec: Mapping[str, Any]) -> tuple[Setting, ...]:
    """Return path and value of each field of a part of the spec. Raises ExportError."""
    _check_spec(spec)
    return tuple(_fields(spec, ()))


def _fields(spec: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[Setting]:
    for name, value in spec.items():
        here = (*path, name)
        if isinstance(value, Mapping):
            yield from _fields(value, here)
        else:
            yield [*here], value


def _check_spec(spec: Mapping[str, Any]) -> None:
    """Report before the weights are written what the pipeline would refuse."""
    needed = {
        name: {"uri": "file:///unknown/", **spec.get(name, {})}
        for name in ("source", "destination")
        if isinstance(spec.get(name, {}), Mapping)
    }
    try:
        parse(
            {
                "apiVersion": "modelexport.dev/v1alpha1",
                "kind": "ModelExport",
                "metadata": {"name": "model"},
                "spec": {"inputs": [{"name": "unknown"}], **spec, **needed},
            }
        )
    except ManifestError as error:
        raise invalid(str(error)) from None


def invalid(message: str) -> ExportError:
    """Return the error of a value that the caller states."""
    return ExportError(
        Reason.INVALID_MANIFEST.value,
        message,
        "Correct the argument: help(modelexport.export) describes them. Further keyword arguments "
        "are fields of the spec of a ModelExport.",
    )
