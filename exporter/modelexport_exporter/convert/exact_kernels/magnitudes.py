"""How large the integers of a graph can be: bounds of their magnitudes.

Kernels that compute integers in double are exact for small ones: sizes, positions, masks, and
inputs with a small declared range keep them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import onnx_ir as ir

from modelexport_exporter.convert.exact_kernels.declared import Declared

SIZE = 2**31 - 1
"""No dim, index or count is larger."""
ELEMENTS = 2**20
"""As many elements are assumed in a sum."""
_LIMITS = {
    ir.DataType.BOOL: 1,
    ir.DataType.UINT8: 2**8 - 1,
    ir.DataType.INT8: 2**7,
    ir.DataType.UINT16: 2**16 - 1,
    ir.DataType.INT16: 2**15,
    ir.DataType.UINT32: 2**32 - 1,
    ir.DataType.INT32: 2**31,
    ir.DataType.UINT64: 2**64 - 1,
    ir.DataType.INT64: 2**63,
}
_COUNTS = frozenset({"Shape", "Size", "NonZero", "ArgMax", "ArgMin", "NonMaxSuppression"})
_MOVES = frozenset(
    {
        "Abs", "Neg", "Identity", "Gather", "GatherElements", "GatherND", "Slice", "Reshape",
        "Squeeze", "Unsqueeze", "Transpose", "Expand", "Flatten", "Tile", "Split", "Trilu",
        "Compress", "ReduceMax", "ReduceMin", "DepthToSpace", "Div", "Relu",
    }
)  # fmt: skip
"""Operators whose results are no larger than their first input."""
_CHOICES = frozenset({"Concat", "Max", "Min", "Clip", "Range", "ScatterND"})
"""Operators whose results are no larger than their largest input."""
_SUMS = frozenset({"ReduceSum", "CumSum"})
_ARITHMETIC = frozenset({"Add", "Sub", "Mul", "Mod", "Pow"})
_LAYERS = frozenset(
    {
        "Conv", "ConvTranspose", "MatMul", "Gemm", "BatchNormalization", "LayerNormalization",
        "InstanceNormalization", "MaxPool", "AveragePool", "GlobalAveragePool", "RNN", "GRU",
        "LSTM", "Tanh", "Sigmoid", "Softmax", "LeakyRelu", "Elu", "Gelu", "Exp", "Log", "Sqrt",
        "Pad", "Erf",
    }
)  # fmt: skip
_KEEPING_DTYPE = _MOVES | _CHOICES | _SUMS | _ARITHMETIC | _LAYERS
"""Operators whose results have the dtype of their first input."""


class Magnitudes:
    """The largest magnitude of each integer value, found in one pass over a graph."""

    def __init__(self, model: ir.Model, declared: Declared) -> None:
        """Walk the graph."""
        self.declared = declared
        self._found: dict[ir.Value, int] = {}
        self._dtypes: dict[ir.Value, ir.DataType] = {}
        for value in model.graph.inputs:
            limit = declared.magnitudes.get(value.name or "")
            if limit is not None:
                self._found[value] = int(limit)
        for node in model.graph.all_nodes():
            self._visit(node)

    def dtype(self, value: ir.Value | None) -> ir.DataType | None:
        """Return the dtype of a value, also where the graph does not note it."""
        if value is None:
            return None
        return value.dtype or self._dtypes.get(value)

    def keep(self, old: ir.Value, new: ir.Value) -> None:
        """Note that a value was replaced by another one, which is the same."""
        self._found[new] = self.of(old)
        dtype = self.dtype(old)
        if dtype is not None:
            self._dtypes[new] = dtype

    def of(self, value: ir.Value | None) -> int:
        """Return a bound of the magnitudes of a value; that of its dtype, if nothing is known."""
        if value is None:
            return 0
        if value in self._found:
            return self._found[value]
        found = _LIMITS.get(self.dtype(value) or ir.DataType.INT64, 2**63)
        tensor = ir.convenience.get_const_tensor(value)
        if tensor is not None and tensor.dtype in _LIMITS:
            found = _largest(tensor)
        self._found[value] = found
        return found

    def _visit(self, node: ir.Node) -> None:
        self._note_dtype(node)
        outputs = [value for value in node.outputs if self.dtype(value) in _LIMITS]
        if not outputs:
            return
        bound = self._bound(node)
        for value in outputs:
            limit = _LIMITS[self.dtype(value) or ir.DataType.INT64]
            if bound is not None:
                self._found[value] = min(limit, bound)

    def _note_dtype(self, node: ir.Node) -> None:
        """Note the dtype of results that have none: an integer operator keeps that of its input."""
        first = node.outputs[0] if node.outputs else None
        if first is None or first.dtype is not None:
            return
        if node.op_type in {"Cast", "Constant"}:
            to = node.attributes.get("to")
            tensor = ir.convenience.get_const_tensor(first)
            dtype = ir.DataType(to.as_int()) if to else tensor.dtype if tensor is not None else None
        elif node.op_type in _COUNTS:
            dtype = ir.DataType.INT64
        elif node.op_type == "Where":
            dtype = self.dtype(node.inputs[1])
        elif node.op_type in _KEEPING_DTYPE:
            dtype = self.dtype(node.inputs[0]) if node.inputs else None
        else:
            dtype = None
        if dtype is not None:
            self._dtypes[first] = dtype

    def _bound(self, node: ir.Node) -> int | None:
        """Return the bound of an integer result; None if it is that of the dtype."""
        bound = _BOUNDS.get(node.op_type)
        return None if bound is None else bound([self.of(value) for value in node.inputs])


def _first(given: list[int]) -> int:
    return given[0]


def _size(_given: list[int]) -> int:
    return SIZE


_BOUNDS: Mapping[str, Callable[[list[int]], int]] = {
    **dict.fromkeys(_COUNTS, _size),
    **dict.fromkeys(_MOVES, _first),
    **dict.fromkeys(_CHOICES, max),
    **dict.fromkeys(_SUMS, lambda given: given[0] * ELEMENTS),
    "Cast": _first,
    "Where": lambda given: max(given[1:]),
    "TopK": lambda given: max(given[0], SIZE),
    "Add": sum,
    "Sub": sum,
    "Mul": lambda given: given[0] * given[1],
    "Mod": lambda given: given[1],
}
"""Bounds of results, from those of the inputs; an input that is left out has 0."""


def _largest(tensor: ir.TensorProtocol) -> int:
    """Return the largest magnitude of a constant."""
    values = tensor.numpy()
    if not values.size:
        return 0
    return max(abs(int(np.max(values))), abs(int(np.min(values))))
