"""A graph under the knife: what mutation operators read of an ONNX model and write to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper, numpy_helper

Array = NDArray[Any]
Node = onnx.NodeProto
FLOATS = frozenset({onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE, onnx.TensorProto.FLOAT16})
INTEGERS = frozenset({onnx.TensorProto.INT64, onnx.TensorProto.INT32})


class Graph:
    """The main graph of a model, edited in place."""

    def __init__(self, model: onnx.ModelProto, observed: Mapping[str, Array]) -> None:
        """`observed`: values of the graph on the export's inputs, small ones."""
        self.model = model
        self.observed = observed
        inferred = onnx.shape_inference.infer_shapes(model).graph
        self._types = {
            value.name: value.type.tensor_type
            for value in (*inferred.value_info, *inferred.input, *inferred.output)
        }
        self.forget_shapes()

    def forget_shapes(self) -> None:
        """Drop the shapes that the exporter wrote down for intermediate values.

        An exporter that converts an operator wrongly infers their shapes from what it wrote.
        """
        del self.model.graph.value_info[:]

    @property
    def outputs(self) -> list[str]:
        return [value.name for value in self.model.graph.output]

    def of(self, *op_types: str) -> Iterator[Node]:
        """Yield the nodes of these types, in order; all nodes without a type."""
        for node in self.model.graph.node:
            if not op_types or node.op_type in op_types:
                yield node

    def type_of(self, name: str) -> int:
        """Return the element type of a value, 0 where it is unknown."""
        if name in self._types:
            return int(self._types[name].elem_type)
        array = self.constant(name)
        return 0 if array is None else helper.np_dtype_to_tensor_dtype(array.dtype)

    def rank_of(self, name: str) -> int | None:
        """Return the number of dims of a value, None where it is unknown."""
        array = self.constant(name)
        if array is not None:
            return array.ndim
        if name in self.observed:
            return self.observed[name].ndim
        known = self._types.get(name)
        return len(known.shape.dim) if known is not None and known.HasField("shape") else None

    def constant(self, name: str) -> Array | None:
        """Return the value of an initializer or of a Constant node."""
        for tensor in self.model.graph.initializer:
            if tensor.name == name:
                return np.array(numpy_helper.to_array(tensor))
        for node in self.of("Constant"):
            if node.output[0] == name and node.attribute[0].HasField("t"):
                return np.array(numpy_helper.to_array(node.attribute[0].t))
        return None

    def weights(self, minimum: int = 2) -> list[tuple[str, Array]]:
        """Return the floating-point constants of at least this many elements."""
        names = [tensor.name for tensor in self.model.graph.initializer]
        names += [node.output[0] for node in self.of("Constant")]
        found = [(name, self.constant(name)) for name in names]
        return [
            (name, array)
            for name, array in found
            if array is not None and array.dtype.kind == "f" and array.size >= minimum
        ]

    def write(self, name: str, array: Array) -> None:
        """Replace an initializer or Constant, for all that use it."""
        for tensor in self.model.graph.initializer:
            if tensor.name == name:
                tensor.CopyFrom(numpy_helper.from_array(np.ascontiguousarray(array), name))
        for node in self.of("Constant"):
            if node.output[0] == name:
                node.attribute[0].t.CopyFrom(numpy_helper.from_array(np.ascontiguousarray(array)))

    def feed(self, node: Node, place: int, array: Array) -> None:
        """Give a node a constant of its own as its input."""
        name = f"mutated_{node.output[0]}_{place}"
        array = np.asarray(array, order="C")
        self.model.graph.initializer.append(numpy_helper.from_array(array, name))
        while len(node.input) <= place:
            node.input.append("")
        node.input[place] = name

    def become(
        self,
        node: Node,
        op_type: str,
        inputs: Sequence[str] = (),
        **attributes: Any,  # noqa: ANN401
    ) -> None:
        """Turn a node into another with the same outputs."""
        made = helper.make_node(op_type, inputs, node.output, name=node.name, **attributes)
        node.CopyFrom(made)

    def bypass(self, node: Node, place: int = 0) -> None:
        """Let a node return one of its inputs."""
        self.become(node, "Identity", [node.input[place]])

    def after(self, node: Node, nodes: Sequence[Node], place: int = 0) -> None:
        """Put nodes behind an output: the first reads `before(…)`, the last writes its name."""
        original = node.output[place]
        self._insert(node, nodes, behind=True)
        for other in self.of():
            if original in other.output and other.name not in {made.name for made in nodes}:
                other.output[list(other.output).index(original)] = before(original)

    def ahead(self, node: Node, nodes: Sequence[Node]) -> None:
        """Put nodes before a node."""
        self._insert(node, nodes, behind=False)

    def _insert(self, node: Node, nodes: Sequence[Node], *, behind: bool) -> None:
        listed = list(self.model.graph.node)
        place = next(i for i, other in enumerate(listed) if other is node or other == node)
        place += behind
        changed = [*listed[:place], *nodes, *listed[place:]]
        copies = [Node.FromString(other.SerializeToString()) for other in changed]
        del self.model.graph.node[:]
        self.model.graph.node.extend(copies)


def before(name: str) -> str:
    """Return the name under which a value goes on before what was put behind it."""
    return f"{name}_before"


def attribute(node: Node, name: str, default: Any = None) -> Any:  # noqa: ANN401
    """Return an attribute; strings as text."""
    for entry in node.attribute:
        if entry.name == name:
            value = helper.get_attribute_value(entry)
            return value.decode() if isinstance(value, bytes) else value
    return default


def set_attribute(node: Node, name: str, value: Any) -> None:  # noqa: ANN401
    """Write an attribute."""
    for place, entry in enumerate(node.attribute):
        if entry.name == name:
            del node.attribute[place]
            break
    node.attribute.append(helper.make_attribute(name, value))


def given(node: Node, place: int) -> str:
    """Return an input's name, empty where it was left out."""
    return node.input[place] if place < len(node.input) else ""


def make(op_type: str, inputs: Sequence[str], output: str, **attributes: Any) -> Node:  # noqa: ANN401
    """Return a new node, named after its output."""
    return helper.make_node(op_type, inputs, [output], name=f"{op_type}_{output}", **attributes)
