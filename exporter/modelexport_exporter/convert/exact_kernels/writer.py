"""Writes the nodes that stand for another one, with names and origins taken from it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import onnx_ir as ir

_AXES_ARE_INPUTS = {"ReduceSum": 13}
"""Since which opset; of the other reductions since 18."""
_OTHERS_SINCE = 18


class Writer:
    """Collects nodes that replace a node."""

    def __init__(self, node: ir.Node, opset: int, label: str = "exact") -> None:
        """Collect for the node. `label`: part of the names of what is written."""
        self._label = label
        self.nodes: list[ir.Node] = []
        self.opset = opset
        self._node = node

    def op(self, operator: str, *inputs: ir.Value, **attributes: Any) -> ir.Value:  # noqa: ANN401
        """Write a node of one output."""
        made = ir.node(operator, list(inputs), attributes)
        return self._add(made)

    def again(self, node: ir.Node, x: ir.Value, **attributes: int) -> ir.Value:
        """Write the node again, of another first input."""
        return self.named(node, node.op_type, x, **attributes)

    def in_dtype(self, node: ir.Node, dtype: ir.DataType, places: Collection[int]) -> ir.Value:
        """Write the node, of one output, again, with the inputs at these places cast."""
        inputs = [
            self.op("Cast", value, to=dtype) if value is not None and place in places else value
            for place, value in enumerate(node.inputs)
        ]
        return self._add(ir.Node("", node.op_type, inputs, list(node.attributes.values())))

    def named(self, node: ir.Node, operator: str, x: ir.Value, **attributes: int) -> ir.Value:
        """Write a reduction over the axes of the node, which is a reduction, too."""
        own = dict(node.attributes)
        own |= {name: ir.AttrInt64(name, value) for name, value in attributes.items()}
        inputs = [x, *node.inputs[1:]]
        if operator != node.op_type:
            inputs, own = self._with_axes(node, operator, x, own)
        return self._add(ir.Node("", operator, inputs, list(own.values())))

    def _with_axes(
        self, node: ir.Node, operator: str, x: ir.Value, own: dict[str, ir.Attr]
    ) -> tuple[list[ir.Value | None], dict[str, ir.Attr]]:
        """Return inputs and attributes, the axes where the operator takes them at this opset."""
        wanted = self.opset >= _AXES_ARE_INPUTS.get(operator, _OTHERS_SINCE)
        given = self.opset >= _AXES_ARE_INPUTS.get(node.op_type, _OTHERS_SINCE)
        if wanted and not given and "axes" in own:
            axes = own.pop("axes").as_ints()
            return [x, self.numbers(axes)], own
        return [x, *node.inputs[1:]], own

    def reduce(self, operator: str, x: ir.Value, over: int | Sequence[int], kept: int) -> ir.Value:
        """Write a reduction over one dim or several. `kept`: 1 if they stay, as 1."""
        axes = [over] if isinstance(over, int) else list(over)
        if self.opset >= _AXES_ARE_INPUTS.get(operator, _OTHERS_SINCE):
            return self.op(operator, x, self.numbers(axes), keepdims=kept)
        return self.op(operator, x, axes=axes, keepdims=kept)

    def axes(self, node: ir.Node) -> list[int] | None:
        """Return the axes of a reduction, none for all; None if they are no constant."""
        if "axes" in node.attributes:
            return list(node.attributes["axes"].as_ints())
        given = node.inputs[1] if len(node.inputs) > 1 else None
        if given is None:
            return [] if not node.attributes.get_int("noop_with_empty_axes", 0) else None
        tensor = ir.convenience.get_const_tensor(given)
        return None if tensor is None else [int(axis) for axis in tensor.numpy().reshape(-1)]

    def number(self, value: int) -> ir.Value:
        """Write an int64."""
        return self.constant(np.array(value, np.int64))

    def numbers(self, values: Sequence[int]) -> ir.Value:
        """Write a list of int64."""
        return self.constant(np.array(values, np.int64))

    def constant(self, array: np.ndarray) -> ir.Value:
        """Write a constant."""
        return self._add(ir.node("Constant", [], {"value": ir.tensor(array)}))

    def outputs(self, made: ir.Node) -> Sequence[ir.Value]:
        """Write a node of several outputs."""
        self._add(made)
        for place, output in enumerate(made.outputs):
            output.name = f"{made.name}_value_{place}"
        return made.outputs

    def _add(self, made: ir.Node) -> ir.Value:
        source = self._node.outputs[0].name or self._node.name
        made.name = f"{source}_{self._label}_{len(self.nodes)}"
        made.outputs[0].name = f"{made.name}_value"
        made.metadata_props.update(self._node.metadata_props)
        self.nodes.append(made)
        return made.outputs[0]
