"""What the judge believes of the process of the original model: nothing against the spec. Pure.

The process may say what the model returns. Which inputs are compared is for the judge to decide: a
range that nobody declared, or a size that no array has, would leave out what a wrong file shows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from modelexport_api.printable import printable
from modelexport_api.sizes import dims_of_shapes
from modelexport_api.spec import DType, Input, InputKind, ModelExportSpec
from modelexport_exporter.core.dims import concrete_shape
from modelexport_exporter.core.input_kinds import NUMBERS
from modelexport_exporter.sampling.draw import FLOATS
from modelexport_exporter.sampling.masks import is_mask
from modelexport_exporter.verification.original import Facts
from modelexport_exporter.verification.seeking.found import Found

MOST_NAMED = 64
LARGEST_NAMED = 10_000_000
"""Of the numbers in the model's code that samples try."""
MOST_SENTENCES, LONGEST_SENTENCE = 50, 500
"""Of what the process says for the status."""
_NOT_SEARCHED = frozenset({DType.BOOL, DType.STRING}) | FLOATS


class FactsContradictError(Exception):
    """The process contradicts the spec or itself; the text says where."""


def check_facts(spec: ModelExportSpec, facts: Facts) -> None:
    """Raise FactsContradictError unless the facts agree with what the spec declares."""
    wanted = spec.verification.provider
    if wanted is not None and facts.provider is not wanted:
        raise FactsContradictError(f"provider {facts.provider.value}, declared is {wanted.value}")
    if len(facts.named) > MOST_NAMED or not all(map(_is_number, facts.named)):
        raise FactsContradictError("numbers in the code that no sample tries")
    if len({entry.name for entry in facts.inputs}) < len(facts.inputs):
        raise FactsContradictError("one input twice")
    declared = dict(_lowered(spec.inputs))
    for entry in facts.inputs:
        _check_dims(entry, spec)
        own = declared.get(entry.name) or _of_state(spec, entry)
        if own is None or own.kind is not entry.kind or not _agrees(own, entry):
            raise FactsContradictError(f"input {entry.name[:80]} is not what the spec declares")


def check_found(spec: ModelExportSpec, found: Found) -> None:
    """Raise FactsContradictError unless arrays have the sizes that are said of them.

    `spec`: with the inputs of the graph.
    """
    if {*found.dims} - {*spec.dims}:
        raise FactsContradictError("inputs of dims that the spec has not")
    for entry in spec.inputs:
        array = found.arrays.get(entry.name)
        known = {*dims_of_shapes([entry.shape])} <= {*found.dims}
        if array is None or not known or array.shape != concrete_shape(entry, found.dims):
            raise FactsContradictError(f"input {entry.name[:80]} of other sizes than it says")


def inferred_ranges(declared: Sequence[Input], inputs: Iterable[Input]) -> list[str]:
    """Return a sentence on each input whose range only the process of the model knows."""
    known = dict(_lowered(declared))
    return [
        f"{entry.range[0]:.0f}..{entry.range[1]:.0f} for {entry.name}, which declares no range and "
        "accepts these"
        if entry.range is not None
        else f"0 and 1 only for {entry.name}, which declares no range"
        for entry in inputs
        if _is_searched(known.get(entry.name) or _without_range(entry))
    ]


def sentences(said: Iterable[str]) -> list[str]:
    """Return what the process says for the status, as a terminal and a status can hold it."""
    return [printable(text[:LONGEST_SENTENCE]) for text in [*said][:MOST_SENTENCES]]


def _is_number(value: float) -> bool:
    return abs(value) <= LARGEST_NAMED  # not NaN


def _lowered(inputs: Iterable[Input]) -> Iterator[tuple[str, Input]]:
    """Yield the inputs of the graph by their names."""
    for entry in inputs:
        if entry.kind is InputKind.SEQUENCE:
            yield from ((f"{entry.name}.{place}", entry) for place in range(entry.length or 0))
        elif entry.kind is not InputKind.CONSTANT:
            yield entry.name, entry


def _of_state(spec: ModelExportSpec, entry: Input) -> Input | None:
    """Return the input of a buffer that only `model.state` names: its module has its shape."""
    paths = spec.model.state if spec.model is not None else []
    of_buffers = {path.replace(".", "_") for path in paths}
    return _without_range(entry) if entry.name in of_buffers else None


def _without_range(entry: Input) -> Input:
    return entry.model_copy(update={"range": None})


def _check_dims(entry: Input, spec: ModelExportSpec) -> None:
    unknown = {*dims_of_shapes([entry.shape])} - {*spec.dims}
    if unknown:
        raise FactsContradictError(f"input {entry.name[:80]} has dims that the spec has not")


def _agrees(own: Input, found: Input) -> bool:
    if is_mask(own):
        ranges_agree = found.range is None or (*found.range,) == (0.0, 1.0)
    elif own.range is not None:
        ranges_agree = own.range == found.range
    else:
        ranges_agree = found.range is None or _is_searched(own) or own.kind is InputKind.INT
    if not ranges_agree:
        return False
    return own.kind in NUMBERS or (own.dtype, own.shape) == (found.dtype, found.shape)


def _is_searched(entry: Input) -> bool:
    """Return whether the process searches for the range of an input."""
    open_tensor = entry.range is None and entry.dtype not in _NOT_SEARCHED
    return open_tensor and entry.kind in {InputKind.TENSOR, InputKind.SEQUENCE}
