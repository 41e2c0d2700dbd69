"""From what was accepted to inputs and dims of a manifest, each value with its source: pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from modelexport_api.sizes import dims_of_shapes
from modelexport_api.spec import Dim, Input, InputKind
from modelexport_exporter.core.inferred import Inferred
from modelexport_exporter.core.proposal import Stated
from modelexport_exporter.inference.extents import Extents
from modelexport_exporter.inference.guess import Guess, dims_in
from modelexport_exporter.inference.names import dim_names


@dataclass(frozen=True)
class Range:
    """The values of an input, and how they were found."""

    low: float
    high: float
    source: str


@dataclass(frozen=True)
class Inputs:
    """A part of a manifest's spec."""

    inputs: tuple[Input, ...]
    dims: dict[str, Dim]
    inferred: tuple[Inferred, ...]


def assemble(extents: Extents, ranges: Mapping[str, Range], stated: Stated, origin: str) -> Inputs:
    """Return inputs and dims, and which of their values were found. `origin`: how shapes were."""
    guesses = extents.guesses
    dims = dict(stated.dims or {})
    by_axis = {one.axis: one for one in extents.found}
    named = {axis for entry in stated.inputs for axis in entry.shape or () if isinstance(axis, str)}
    names = dim_names(guesses, by_axis, {*named, *dims} & {*by_axis})
    inferred: list[Inferred] = []
    for axis, extent in by_axis.items():
        if names[axis] not in dims:
            dims[names[axis]] = Dim(min=extent.low, max=extent.high)
            value = f"{extent.low}..{extent.high}"
            inferred.append(
                Inferred(field=f"dims.{names[axis]}", value=value, source=extent.source)
            )
    steps = {axis: extent.step for axis, extent in by_axis.items()}

    def size(axis: str) -> int | str:
        if axis in names:
            return f"{steps[axis]} * {names[axis]}" if steps[axis] > 1 else names[axis]
        if {*dims_in(axis)} <= {*dims}:
            return axis
        return guesses.sizes[axis]

    inputs = []
    for place, guess in enumerate(guesses.inputs):
        entry = _input(guess, size, ranges.get(guess.name))
        inputs.append(entry)
        inferred += _inferred(place, entry, stated, origin, ranges.get(guess.name))
    used = dims_of_shapes(entry.shape for entry in inputs)
    return Inputs(
        tuple(inputs), {name: dims[name] for name in dims if name in used}, tuple(inferred)
    )


def _input(guess: Guess, size: Callable[[str], int | str], values: Range | None) -> Input:
    limits = values or (Range(*guess.range, source="") if guess.range else None)
    return Input(
        name=guess.name,
        kind=guess.kind,
        dtype=guess.dtype,
        shape=[size(axis) for axis in guess.axes],
        length=guess.length,
        range=[limits.low, limits.high] if limits else None,
        value=guess.value,
    )


def _inferred(
    place: int, entry: Input, stated: Stated, origin: str, values: Range | None
) -> list[Inferred]:
    """Return the values of an input that the user does not state."""
    own = next((one for one in stated.inputs if one.name == entry.name), None)
    found = []
    path = f"inputs[{place}]"
    if entry.kind is InputKind.CONSTANT:
        return [Inferred(field=f"{path}.value", value=repr(entry.value), source=origin)]
    if own is None:
        found.append(Inferred(field=f"{path}.name", value=entry.name, source=origin))
    if own is None or own.dtype is None:
        found.append(Inferred(field=f"{path}.dtype", value=entry.dtype.value, source=origin))
    if own is None or own.shape is None:
        shape = f"[{', '.join(map(str, entry.shape))}]"
        found.append(Inferred(field=f"{path}.shape", value=shape, source=origin))
    if entry.range is not None and (own is None or own.range is None):
        value = f"{_number(entry.range[0])}..{_number(entry.range[1])}"
        source = values.source if values is not None and values.source else origin
        found.append(Inferred(field=f"{path}.range", value=value, source=source))
    return found


def _number(value: float) -> str:
    return f"{value:g}" if abs(value) < 1e6 else f"{value:.0f}"  # noqa: PLR2004 - digits of %g


def unused_dims(found: Inputs, stated: Stated) -> Sequence[str]:
    """Return the dims that the user declares and no input has."""
    return [name for name in stated.dims or {} if name not in found.dims]
