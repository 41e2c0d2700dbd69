"""The shapes of a node's results, from those of its inputs, at many sizes at once.

As the specification of ONNX states them. An operator without a rule has results of unknown shape.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from modelexport_exporter.verification.shapes.layer_rules import LAYERS
from modelexport_exporter.verification.shapes.sized import (
    Integers,
    Operands,
    Shape,
    Size,
    UnknownError,
    broadcast,
    columns,
    constant,
    is_number,
    known,
    number,
    product,
)

AS_FIRST = frozenset(
    [
        *("Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "BatchNormalization"),
        *("BitwiseNot", "Cast", "Ceil", "Celu", "Clip", "CumProd"),
        *("Cos", "Cosh", "CumSum", "DequantizeLinear", "Dropout", "Elu", "Erf", "Exp", "EyeLike"),
        *("Floor", "Gelu", "GroupNormalization", "HardSigmoid", "HardSwish", "Hardmax"),
        *("Identity", "InstanceNormalization", "IsInf", "IsNaN", "LRN", "LayerNormalization"),
        *("LeakyRelu", "Log", "LogSoftmax", "LpNormalization", "MeanVarianceNormalization", "Mish"),
        *("Neg", "Not", "PRelu", "QuantizeLinear", "RMSNormalization", "Reciprocal", "Relu"),
        *("Round", "ScatterElements", "ScatterND", "Selu", "Shrink", "Sigmoid", "Sign", "Sin"),
        *("Sinh", "Softmax", "Softplus", "Softsign", "Sqrt", "Tan", "Tanh", "ThresholdedRelu"),
        *("Trilu",),
    ]
)
"""Operators whose first result has the shape of their first input."""
BROADCAST = frozenset(
    [
        *(
            "Add",
            "And",
            "BitShift",
            "BitwiseAnd",
            "BitwiseOr",
            "BitwiseXor",
            "Div",
            "Equal",
            "Greater",
        ),
        *("GreaterOrEqual", "Less", "LessOrEqual", "Max", "Mean", "Min", "Mod", "Mul", "Or"),
        *("Pow", "Sub", "Sum", "Where", "Xor"),
    ]
)
Rule = Callable[[Operands], Sequence[Shape]]


def shapes_of(given: Operands) -> Sequence[Shape]:
    """Return the shapes of results, of the first ones at least. Raises UnknownError."""
    kind = given.node.op_type
    if kind in AS_FIRST:
        return [given.shape(0)]
    if kind in BROADCAST:
        return [broadcast(*(given.shape(place) for place in range(len(given.node.input))))]
    if kind.startswith("Reduce") or kind in {"ArgMax", "ArgMin"}:
        return [_reduced(given)]
    rule = _RULES.get(kind) or LAYERS.get(kind)
    return known(rule)(given)


def _reduced(given: Operands) -> Shape:
    shape = given.shape(0)
    single = given.node.op_type in {"ArgMax", "ArgMin"}
    axes = [given.attributes.get("axis", 0)] if single else given.axes(1)
    if not axes and given.attributes.get("noop_with_empty_axes"):
        return shape
    places = {axis % len(shape) for axis in axes or range(len(shape))}
    if given.attributes.get("keepdims", 1):
        return tuple(number(1) if at in places else size for at, size in enumerate(shape))
    return tuple(size for at, size in enumerate(shape) if at not in places)


def _matmul(given: Operands) -> list[Shape]:
    one, other = given.shape(0), given.shape(1)
    rows = one[-2:-1]
    places = other[-1:] if len(other) > 1 else ()
    return [(*broadcast(one[:-2], other[:-2]), *rows, *places)]


def _gemm(given: Operands) -> list[Shape]:
    one, other = given.shape(0), given.shape(1)
    return [
        (one[given.attributes.get("transA", 0)], other[1 - given.attributes.get("transB", 0)]),
    ]


def _einsum(given: Operands) -> list[Shape]:
    terms, arrow, result = given.attributes["equation"].decode().replace(" ", "").partition("->")
    if not arrow or "." in terms:
        raise UnknownError
    letters: dict[str, Size] = {}
    for place, term in enumerate(terms.split(",")):
        for letter, size in zip(term, given.shape(place), strict=True):
            (merged,) = broadcast((letters.get(letter, number(1)),), (size,))
            letters[letter] = merged
    return [tuple(letters[letter] for letter in result)]


def _transposed(given: Operands) -> list[Shape]:
    shape = given.shape(0)
    order = given.attributes.get("perm", range(len(shape))[::-1])
    return [tuple(shape[place] for place in order)]


def _reshaped(given: Operands) -> list[Shape]:
    wanted = columns(known(given.value(1)))
    shape = given.shape(0)
    sizes: list[Size] = list(wanted)
    if not given.attributes.get("allowzero"):
        for at, size in enumerate(wanted):
            if (size == 0).any():
                sizes[at] = np.where(size == 0, known(shape[at]), size)
    free = [at for at, size in enumerate(wanted) if (size == -1).any()]
    if free and any(size is None for size in shape):
        return [tuple(None if at in free else size for at, size in enumerate(sizes))]
    if free:
        others = product([np.where(known(size) == -1, 1, known(size)) for size in sizes])
        missing = product(shape) // np.maximum(others, 1)
        for at in free:
            sizes[at] = np.where(known(sizes[at]) == -1, missing, known(sizes[at]))
    return [tuple(sizes)]


def _flattened(given: Operands) -> list[Shape]:
    shape = given.shape(0)
    axis = given.attributes.get("axis", 1)
    axis += len(shape) if axis < 0 else 0
    return [(product(shape[:axis]), product(shape[axis:]))]


def _squeezed(given: Operands) -> list[Shape]:
    shape, axes = given.shape(0), given.axes(1)
    if axes is None:
        if any(size is None or (len(set(size.tolist())) > 1 and 1 in size) for size in shape):
            raise UnknownError
        return [tuple(size for size in shape if not is_number(size, 1))]
    places = {axis % len(shape) for axis in axes}
    return [tuple(size for at, size in enumerate(shape) if at not in places)]


def _unsqueezed(given: Operands) -> list[Shape]:
    axes = known(given.axes(1))
    rank = len(given.shape(0)) + len(axes)
    places, sizes = {axis % rank for axis in axes}, iter(given.shape(0))
    return [tuple(number(1) if at in places else next(sizes) for at in range(rank))]


def _concatenated(given: Operands) -> list[Shape]:
    shapes = [given.shape(place) for place in range(len(given.node.input))]
    axis = given.attributes["axis"] % len(shapes[0])
    total: Size = number(0)
    for shape in shapes:
        total = None if total is None or shape[axis] is None else total + known(shape[axis])
    merged = [
        next((s for s in sizes if s is not None), None) for sizes in zip(*shapes, strict=True)
    ]
    return [(*merged[:axis], total, *merged[axis + 1 :])]


def _split(given: Operands) -> list[Shape]:
    shape, count = given.shape(0), len(given.node.output)
    axis = given.attributes.get("axis", 0) % len(shape)
    listed, stated = given.attributes.get("split"), given.value(1)
    if listed is not None:
        parts = [number(size) for size in listed]
    elif stated is not None:
        parts = columns(stated)
    else:
        whole = known(shape[axis])
        each = -(-whole // count)
        parts = [np.clip(whole - each * place, 0, each) for place in range(count)]
    return [(*shape[:axis], part, *shape[axis + 1 :]) for part in parts]


def _sliced(given: Operands) -> list[Shape]:
    sizes = list(given.shape(0))
    listed = given.attributes.get("starts")
    if listed is not None:
        starts = [number(at) for at in listed]
        ends = [number(at) for at in given.attributes["ends"]]
        axes, steps = given.attributes.get("axes"), None
    else:
        starts = columns(known(given.value(1)))
        ends = columns(known(given.value(2)))
        axes, steps = given.numbers(3), given.numbers(4)
    for at, axis in enumerate(axes or range(len(starts))):
        size = sizes[axis]
        step = steps[at] if steps else 1
        sizes[axis] = None if size is None else _cut(size, starts[at], ends[at], step)
    return [tuple(sizes)]


def _cut(size: Integers, start: Integers, end: Integers, step: int) -> Integers:
    """Return the length of `[start:end:step]`, as Python counts it, but for an end of -1."""
    first = np.where(start < 0, start + size, start)
    last = np.where(end < 0, end + size, end)
    if step > 0:
        first, last = np.clip(first, 0, size), np.clip(last, 0, size)
    else:
        first, last = np.clip(first, 0, size - 1), np.clip(last, -1, size - 1)
    length: Integers = np.maximum(-((first - last) // step), 0)
    return length


def _gathered(given: Operands) -> list[Shape]:
    data, places = given.shape(0), given.shape(1)
    axis = given.attributes.get("axis", 0) % len(data)
    return [(*data[:axis], *places, *data[axis + 1 :])]


def _gathered_each(given: Operands) -> list[Shape]:
    return [given.shape(1)]


def _gathered_deep(given: Operands) -> list[Shape]:
    data, places = given.shape(0), given.shape(1)
    depth = constant(known(places[-1]))[0]
    return [(*places[:-1], *data[given.attributes.get("batch_dims", 0) + depth :])]


def _expanded(given: Operands) -> list[Shape]:
    return [broadcast(given.shape(0), tuple(columns(known(given.value(1)))))]


def _tiled(given: Operands) -> list[Shape]:
    times = columns(known(given.value(1)))
    pairs = zip(given.shape(0), times, strict=True)
    return [tuple(None if size is None else size * own for size, own in pairs)]


def _filled(given: Operands) -> list[Shape]:
    return [tuple(columns(known(given.value(0))))]


def _ranged(given: Operands) -> list[Shape]:
    start, limit, step = (known(given.value(at)).reshape(-1).astype("f8") for at in range(3))
    return [(np.maximum(np.ceil((limit - start) / step), 0).astype(np.int64),)]


def _top(given: Operands) -> list[Shape]:
    shape = given.shape(0)
    axis = given.attributes.get("axis", -1) % len(shape)
    (count,) = columns(known(given.value(1)))
    return [(*shape[:axis], count, *shape[axis + 1 :])] * 2


def _one_hot(given: Operands) -> list[Shape]:
    shape = given.shape(0)
    axis = given.attributes.get("axis", -1) % (len(shape) + 1)
    (depth,) = columns(known(given.value(1)))
    return [(*shape[:axis], depth, *shape[axis:])]


_RULES: dict[str, Rule] = {
    "MatMul": _matmul,
    "Gemm": _gemm,
    "Einsum": _einsum,
    "Transpose": _transposed,
    "Reshape": _reshaped,
    "Flatten": _flattened,
    "Squeeze": _squeezed,
    "Unsqueeze": _unsqueezed,
    "Concat": _concatenated,
    "Split": _split,
    "Slice": _sliced,
    "Gather": _gathered,
    "GatherElements": _gathered_each,
    "GatherND": _gathered_deep,
    "Expand": _expanded,
    "Tile": _tiled,
    "ConstantOfShape": _filled,
    "Range": _ranged,
    "TopK": _top,
    "OneHot": _one_hot,
}
