"""The shapes that a file returns at many combinations of sizes, in one pass over its nodes.

A session for each size takes 5 ms of a small encoder, and more of a large one. Here each size is an
array with an entry for each combination, so that thousands of them take as long as one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from pathlib import Path

import numpy as np
import onnx
from onnx import helper, inliner, numpy_helper

from modelexport_exporter.verification.shapes.expressions import evaluate
from modelexport_exporter.verification.shapes.file_shapes import Known
from modelexport_exporter.verification.shapes.shape_rules import shapes_of
from modelexport_exporter.verification.shapes.size_values import MOST_ELEMENTS, value_of
from modelexport_exporter.verification.shapes.sized import (
    Operands,
    Shape,
    Size,
    UnknownError,
    Values,
    number,
)

_OWN = frozenset({"", "ai.onnx"})


def shapes_at_all(
    path: Path, combinations: Sequence[Mapping[str, int]]
) -> list[dict[str, Known]] | None:
    """Return the shapes of outputs by name at each combination; None if the file is not understood.

    An output whose number of dims is unknown is left out.
    """
    model = onnx.load(path, load_external_data=False)
    try:
        if model.functions:
            model = inliner.inline_local_functions(model)
        found = _Pass(model, _shapes_of_inputs(model.graph, combinations))
    except Exception:  # noqa: BLE001 - a file that this does not understand is no error
        return None
    outputs = {entry.name: found.shapes.get(entry.name) for entry in model.graph.output}
    return [
        {
            name: tuple(_at(size, place) for size in shape)
            for name, shape in outputs.items()
            if shape is not None
        }
        for place in range(len(combinations))
    ]


def values_at_all(model: onnx.ModelProto, given: Mapping[str, Values]) -> dict[str, Values] | None:
    """Return the outputs by name, [combinations or 1, …]; None if one of them is not known.

    `given`: the inputs, [combinations, …].
    """
    try:
        values = _Pass(model, {}, given).values
    except Exception:  # noqa: BLE001 - a file that this does not understand is no error
        return None
    names = [entry.name for entry in model.graph.output]
    return {name: values[name] for name in names} if values.keys() >= set(names) else None


def _shapes_of_inputs(
    graph: onnx.GraphProto, combinations: Sequence[Mapping[str, int]]
) -> dict[str, Shape]:
    return {
        entry.name: tuple(_size_of(dim, combinations) for dim in entry.type.tensor_type.shape.dim)
        for entry in graph.input
    }


def _at(size: Size, place: int) -> int | None:
    return None if size is None else int(size[place if len(size) > 1 else 0])


class _Pass:
    """What is known of each value of a graph."""

    def __init__(
        self,
        model: onnx.ModelProto,
        shapes: Mapping[str, Shape],
        values: Mapping[str, Values] | None = None,
    ) -> None:
        """`shapes`, `values`: of the inputs, where they are known."""
        self.shapes: dict[str, Shape | None] = dict(shapes)
        self.values: dict[str, Values] = {}
        self._opset = next(own.version for own in model.opset_import if own.domain in _OWN)
        for name, value in (values or {}).items():
            self._add_value(name, value)
        for tensor in model.graph.initializer:
            self._add_constant(tensor.name, tensor)
        for node in model.graph.node:
            if node.domain in _OWN:
                self._visit(node)

    def _add_constant(self, name: str, tensor: onnx.TensorProto) -> None:
        self.shapes[name] = tuple(map(number, tensor.dims))
        external = tensor.data_location == onnx.TensorProto.EXTERNAL
        if not external and prod(tensor.dims) <= MOST_ELEMENTS:
            self._add_value(name, numpy_helper.to_array(tensor)[None])

    def _add_value(self, name: str, value: Values) -> None:
        self.values[name] = value
        self.shapes[name] = tuple(map(number, value.shape[1:]))

    def _visit(self, node: onnx.NodeProto) -> None:
        attributes = {own.name: helper.get_attribute_value(own) for own in node.attribute}
        if node.op_type == "Constant":
            self._visit_constant(node.output[0], attributes)
            return
        given = Operands(
            node,
            [self.shapes.get(name) for name in node.input],
            [self.values.get(name) for name in node.input],
            attributes,
        )
        try:
            value = value_of(given, self._opset)
        except (UnknownError, ValueError, IndexError, TypeError, KeyError):
            self._visit_shapes(given)
        else:
            self._add_value(node.output[0], value)

    def _visit_shapes(self, given: Operands) -> None:
        try:
            found = shapes_of(given)
        except (UnknownError, ValueError, IndexError, TypeError, KeyError):
            return
        self.shapes.update(zip(given.node.output, found, strict=False))

    def _visit_constant(self, name: str, attributes: Mapping[str, object]) -> None:
        ((kind, value),) = attributes.items()
        if isinstance(value, onnx.TensorProto):
            self._add_constant(name, value)
        elif kind in {"value_int", "value_ints", "value_float", "value_floats"}:
            dtype = np.int64 if "int" in kind else np.float32
            self._add_constant(name, numpy_helper.from_array(np.array(value, dtype)))


def _size_of(
    dim: onnx.TensorShapeProto.Dimension, combinations: Sequence[Mapping[str, int]]
) -> Size:
    if dim.HasField("dim_value"):
        return number(dim.dim_value)
    found: list[int] = []
    for sizes in combinations:
        if (size := evaluate(dim.dim_param, sizes)) is None:
            return None
        found.append(size)
    return np.array(found, np.int64)
