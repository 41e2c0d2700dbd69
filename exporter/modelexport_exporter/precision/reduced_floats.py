"""Float16 and BFloat16: a float32 graph computes in the smaller type where ONNX lets it.

Guarantees the declared types of inputs and outputs, a node's module path, and a graph that ONNX's
own schemas allow: whether an operator takes the type at the file's opset is read from its schema.
Where it does not, or should not (`KEPT`, `_positions`), the node stays in float32 between two
casts. Loops and branches stay in float32, subgraphs included.

Why the graph and not the module: `module.half()` works for one of torch's routes. It fails in
code that makes float32 tensors of its own (masks, positions, hidden states), leaves TorchScript
archives and ExportedPrograms out, and computes norms and exponentials in float16. Why not
onnxruntime.transformers.float16: it knows no bfloat16, puts casts of nodes in subgraphs into the
main graph, and has its own list of operators. docs/precision.md has the measurements.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
from numpy.typing import NDArray
from onnx_ir.passes import common as passes

FLOAT = ir.DataType.FLOAT
_TYPE_NAME = {ir.DataType.FLOAT16: "tensor(float16)", ir.DataType.BFLOAT16: "tensor(bfloat16)"}

KEPT = frozenset(
    {
        *("Acos", "Asin", "Atanh", "Cosh", "Sinh", "Tan", "Exp", "Log", "Pow", "Sqrt"),
        *("Reciprocal", "Softplus", "CumSum", "LpNormalization", "RMSNormalization"),
        *("ReduceSum", "ReduceSumSquare", "ReduceProd", "ReduceMean", "ReduceL1", "ReduceL2"),
        *("ReduceLogSum", "ReduceLogSumExp", "MeanVarianceNormalization", "Det", "Sin", "Cos"),
        *("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss", "RandomNormal", "RandomUniform"),
        *("RandomNormalLike", "RandomUniformLike", "Bernoulli", "Multinomial", "EyeLike"),
    }
)
"""The operators that torch.autocast computes in float32, except LayerNormalization and Softmax,
which take float16 and accumulate in float32 (stash_type; onnxruntime's kernels). Also means, which
overflow like sums, and random generators."""

_INDEX_ARITHMETIC = frozenset(
    {"Add", "Sub", "Mul", "Div", "Neg", "Floor", "MatMul", "Cast", "Range", "Concat", "Expand"}
    | {"Unsqueeze", "Squeeze", "Reshape", "Transpose", "Slice", "Einsum", "Pow", "Exp", "Identity"}
)


@dataclass(frozen=True)
class Reduction:
    """Counts of the graph's nodes that compute with floating-point numbers."""

    reduced: int
    kept: dict[str, int]
    """Those that stay in float32, by operator."""


def reduce_floats(model: ir.Model, target: ir.DataType) -> Reduction:
    """Rewrite the model in place."""
    passes.LiftConstantsToInitializersPass(lift_all_constants=True, size_limit=0)(model)
    passes.ShapeInferencePass(check_type=False, strict_mode=False, data_prop=False)(model)
    plan = _Plan(model, target)
    _Rewrite(model, target, plan).run()
    kept = Counter(node.op_type for node in plan.computing if node not in plan.reduced)
    return Reduction(len(plan.reduced), dict(kept.most_common()))


def convert(tensor: ir.TensorProtocol, target: ir.DataType, name: str | None) -> ir.LazyTensor:
    """Return the tensor in the dtype, converted lazily when it is written.

    Finite numbers stay finite: -3.4e38, as in masks, becomes the dtype's smallest number.
    """

    def converted() -> ir.TensorProtocol:
        limits = ml_limits(target)
        array: NDArray[Any] = tensor.numpy()
        finite = np.where(np.isfinite(array), np.clip(array, -limits, limits), array)
        return ir.Tensor(finite.astype(target.numpy()), dtype=target, name=name)

    return ir.LazyTensor(converted, dtype=target, shape=ir.Shape(tensor.shape.numpy()), name=name)


def ml_limits(target: ir.DataType) -> float:
    """Return the largest finite number of the type."""
    return 65504.0 if target is ir.DataType.FLOAT16 else float.fromhex("0x1.fep127")


class _Plan:
    """Which nodes compute in the smaller type, and which inputs of these do."""

    def __init__(self, model: ir.Model, target: ir.DataType) -> None:
        self._opset = model.opset_imports.get("", 1)
        self._target = target
        nodes = list(model.graph)
        self.computing = [node for node in nodes if _floats(node)]
        positions = _positions(nodes)
        reduced = {
            node
            for node in self.computing
            if node.op_type not in KEPT and node not in positions and self._takes(node)
        }
        self.reduced = reduced - _sandwiched(nodes, reduced)

    def _takes(self, node: ir.Node) -> bool:
        """Return whether every floating-point input and output may have the smaller dtype."""
        if node.domain or any(_has_graph(attribute) for attribute in node.attributes.values()):
            return False
        if any(value.dtype is None for value in node.outputs if value.name):
            return False
        found = [
            self.allows(node, place, output=output)
            for values, output in ((node.inputs, False), (node.outputs, True))
            for place, value in enumerate(values)
            if value is not None and value.dtype is FLOAT
        ]
        return any(found) and None not in found

    def allows(self, node: ir.Node, place: int, *, output: bool = False) -> bool | None:
        """Return whether an input or output takes the smaller dtype.

        False: ONNX fixes it to float32. None: the operator does not support the dtype.
        """
        schema = onnx.defs.get_schema(node.op_type, self._opset, "")
        parameters = schema.outputs if output else schema.inputs
        kind = parameters[min(place, len(parameters) - 1)].type_str
        if kind == "tensor(float)":
            return False
        for constraint in schema.type_constraints:
            if constraint.type_param_str == kind:
                return _TYPE_NAME[self._target] in constraint.allowed_type_strs or None
        return None


def _floats(node: ir.Node) -> bool:
    values = [value for value in (*node.inputs, *node.outputs) if value is not None]
    return any(value.dtype is FLOAT for value in values)


def _has_graph(attribute: ir.Attr) -> bool:
    return attribute.type in {ir.AttributeType.GRAPH, ir.AttributeType.GRAPHS}


def _positions(nodes: list[ir.Node]) -> set[ir.Node]:
    """Return the arithmetic on positions and times that ends in a sine.

    float16 represents integers up to 2048, bfloat16 up to 256: larger angles would be wrong.
    """
    plain: set[ir.Node] = set()
    for node in nodes:
        if node.op_type in _INDEX_ARITHMETIC and all(
            value is None or value.producer() is None or value.producer() in plain
            for value in node.inputs
            if value is None or value.dtype is FLOAT
        ):
            plain.add(node)
    found: set[ir.Node] = set()
    ahead = [node for node in nodes if node.op_type in {"Sin", "Cos"}]
    while ahead:
        for source in ahead.pop().predecessors():
            if source in plain and source not in found:
                found.add(source)
                ahead.append(source)
    return found


def _sandwiched(nodes: list[ir.Node], reduced: set[ir.Node]) -> set[ir.Node]:
    """Return the nodes between two that stay in float32: casting down and up only loses."""
    between: set[ir.Node] = set()
    for node in nodes:
        sources = [source for source in node.predecessors() if _floats(source)]
        targets = list(node.successors())
        if node not in reduced or not sources or not targets:
            continue
        if all(other not in reduced or other in between for other in sources) and all(
            other not in reduced for other in targets
        ):
            between.add(node)
    return between


class _Rewrite:
    """Changes types, and casts where they meet."""

    def __init__(self, model: ir.Model, target: ir.DataType, plan: _Plan) -> None:
        self._graph = model.graph
        self._target = target
        self._plan = plan
        self._suffix = target.name.lower()
        self._casts: dict[tuple[ir.Value, ir.DataType], ir.Value] = {}

    def run(self) -> None:
        outputs = list(self._graph.outputs)
        produced = [
            value
            for node in self._graph
            if node in self._plan.reduced
            for place, value in enumerate(node.outputs)
            if value.dtype is FLOAT and self._plan.allows(node, place, output=True)
        ]
        wanted = list(self._wanted())
        for value in produced:
            value.dtype = self._target
        for node, place, value, dtype in wanted:
            if value.dtype is not dtype:
                node.replace_input_with(place, self._as(value, dtype))
        for node in self._plan.reduced:
            self._retype(node)
        for place, value in enumerate(outputs):
            if value.dtype is self._target and value in produced:
                self._restore(place, value)
        self._drop_unused_initializers()

    def _wanted(self) -> Iterator[tuple[ir.Node, int, ir.Value, ir.DataType]]:
        """Yield each floating-point input of each node, with the type that it has to have."""
        for node in self._graph.all_nodes():
            for place, value in enumerate(node.inputs):
                if value is None or value.dtype is not FLOAT:
                    continue
                smaller = node in self._plan.reduced and self._plan.allows(node, place)
                yield node, place, value, self._target if smaller else FLOAT

    def _as(self, value: ir.Value, dtype: ir.DataType) -> ir.Value:
        """Return the value in the type: a weight converted, anything else through a Cast."""
        if (value, dtype) not in self._casts:
            weight = value.is_initializer() and value not in self._graph.inputs
            self._casts[value, dtype] = self._weight(value) if weight else self._cast(value, dtype)
        return self._casts[value, dtype]

    def _weight(self, value: ir.Value) -> ir.Value:
        assert value.const_value is not None
        name = f"{value.name}_{self._suffix}"
        converted = convert(value.const_value, self._target, name)
        made = ir.Value(
            name=name,
            shape=value.shape,
            type=ir.TensorType(self._target),
            const_value=converted,
        )
        self._graph.register_initializer(made)
        return made

    def _cast(self, value: ir.Value, dtype: ir.DataType) -> ir.Value:
        name = f"{value.name}_{dtype.name.lower()}"
        node = ir.node("Cast", [value], {"to": int(dtype)}, name=f"cast_{name}")
        result = node.outputs[0]
        result.name, result.shape, result.type = name, value.shape, ir.TensorType(dtype)
        producer = value.producer()
        if producer is None:
            self._graph.insert_before(self._graph[0], node)
        else:
            node.metadata_props.update(producer.metadata_props)
            self._graph.insert_after(producer, node)
        return result

    def _retype(self, node: ir.Node) -> None:
        """Write the smaller type into the attributes that name one."""
        to = node.attributes.get("to")
        if to is not None and to.as_int() == int(FLOAT):
            node.attributes["to"] = ir.AttrInt64("to", int(self._target))
        if node.op_type == "ConstantOfShape":
            given = node.attributes.get("value")
            zero = ir.tensor(np.zeros(1, np.float32))
            value = convert(given.as_tensor() if given else zero, self._target, None)
            node.attributes["value"] = ir.AttrTensor("value", ir.tensor(value.numpy()))

    def _restore(self, place: int, value: ir.Value) -> None:
        """Give an output of the graph its declared name and type back."""
        name = value.name
        value.name = f"{name}_{self._suffix}"
        known = self._casts.get((value, FLOAT))
        result = known if known is not None else self._cast(value, FLOAT)
        result.name = name
        self._graph.outputs[place] = result

    def _drop_unused_initializers(self) -> None:
        for name, value in list(self._graph.initializers.items()):
            if not value.uses() and not value.is_graph_output() and not value.is_graph_input():
                del self._graph.initializers[name]
