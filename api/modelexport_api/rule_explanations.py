"""Which part of a spec violates a cross-field rule, and what to write instead: pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from modelexport_api.nearest import did_you_mean, nearest
from modelexport_api.problem import field_of
from modelexport_api.rule import Explained
from modelexport_api.sizes import dims_of_shapes
from modelexport_api.spec import Input, ModelExportSpec
from modelexport_api.yaml_text import inline


def undeclared_dims(spec: ModelExportSpec) -> Iterator[Explained]:
    """Yield each dim that a shape names and `dims` does not, once."""
    seen: set[str] = set()
    for index, entry in enumerate(spec.inputs):
        for dim in dims_of_shapes([entry.shape]):
            if dim in spec.dims or dim in seen:
                continue
            seen.add(dim)
            near = nearest(dim, spec.dims)
            meant = f"did you mean `{near}`? Otherwise " if near else ""
            yield Explained(
                ("inputs", index, "shape"),
                f"dim `{dim}` of inputs[{index}].shape is not declared in spec.dims: {meant}"
                f"add `dims: {inline({dim: {'min': 1, 'max': 512}})}`",
            )


def unused_dims(spec: ModelExportSpec) -> Iterator[Explained]:
    """Yield each dim that no shape names."""
    used = set(dims_of_shapes(entry.shape for entry in spec.inputs))
    for dim in spec.dims:
        if dim not in used:
            meant = did_you_mean(dim, used - set(spec.dims))
            advice = f"{meant} Otherwise remove it" if meant else "remove it"
            hint = f"{advice}, or write {dim} in the shape of the input that has it"
            yield Explained(("dims", dim), f"dim `{dim}` is in no shape: {hint}")


def swapped_dims(spec: ModelExportSpec) -> Iterator[Explained]:
    """Yield each dim whose smallest size is larger than its largest."""
    for name, dim in spec.dims.items():
        if dim.min > dim.max:
            yield Explained(
                ("dims", name),
                f"found min {dim.min} and max {dim.max}; write "
                f"{name}: {inline({'min': dim.max, 'max': dim.min})}",
            )


def swapped_ranges(spec: ModelExportSpec) -> Iterator[Explained]:
    """Yield each range whose smallest value is larger than its largest."""
    for index, entry in enumerate(spec.inputs):
        if entry.range is not None and entry.range[0] > entry.range[1]:
            low, high = (int(v) if v.is_integer() else v for v in reversed(entry.range))
            found = f"found {_numbers(entry.range)}; write range: {inline([low, high])}"
            yield Explained(("inputs", index, "range"), found)


def _numbers(values: Iterable[float]) -> str:
    return inline([int(value) if value.is_integer() else value for value in values])


def of_inputs(
    field: str, violates: Callable[[Input], bool], advice: Callable[[Input], str]
) -> Callable[[ModelExportSpec], Iterator[Explained]]:
    """Return what yields each input that violates a rule, at its field."""

    def explain(spec: ModelExportSpec) -> Iterator[Explained]:
        for index, entry in enumerate(spec.inputs):
            if violates(entry):
                sentence = f"input `{entry.name}` is of kind {entry.kind}; {advice(entry)}"
                yield Explained(("inputs", index, field), sentence)

    return explain


def repeated(
    field: str, names: Callable[[ModelExportSpec], list[str]]
) -> Callable[[ModelExportSpec], Iterator[Explained]]:
    """Return what yields each name that occurs twice in a list."""

    def explain(spec: ModelExportSpec) -> Iterator[Explained]:
        found = names(spec)
        for index, name in enumerate(found):
            first = found.index(name)
            if first < index:
                where = field_of((field, first))
                yield Explained((field, index), f"`{name}` is already the name of {where}: rename")

    return explain


def outputs_named_as_inputs(spec: ModelExportSpec) -> Iterator[Explained]:
    """Yield each output that has the name of an input."""
    inputs = {entry.name: index for index, entry in enumerate(spec.inputs)}
    for index, name in enumerate(spec.outputs):
        if name in inputs:
            yield Explained(
                ("outputs", index),
                f"`{name}` is the name of inputs[{inputs[name]}]; write {name}_out",
            )


def unlisted_outputs(spec: ModelExportSpec) -> Iterator[Explained]:
    """Yield each output that has a shape and is not listed."""
    for name in spec.output_shapes:
        if name not in spec.outputs:
            advice = did_you_mean(name, spec.outputs) or f"add outputs: {inline([name])}"
            yield Explained(
                ("outputShapes", name), f"output `{name}` is not listed in outputs: {advice}"
            )


def wrong_dtypes(spec: ModelExportSpec) -> Iterator[Explained]:
    """Yield each input of an element type that ONNX or torch has not."""
    for index, entry in enumerate(spec.inputs):
        if entry.dtype.value.startswith(("complex", "string")):
            yield Explained(
                ("inputs", index, "dtype"), f"input `{entry.name}` has dtype {entry.dtype}"
            )
