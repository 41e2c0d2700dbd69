"""Shapes of a file at all sizes, as onnxruntime returns them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import parser

from modelexport_exporter.verification.shapes.all_sizes import shapes_at_all
from modelexport_exporter.verification.shapes.shape_rules import AS_FIRST, BROADCAST

SIZES = [{"n": n, "m": m} for n in (1, 2, 5, 16) for m in (4, 7)]
IMAGE = "float[n, 4, m, 9] x"
ROWS = "float[n, m] x"
OF_SIZE = "s = Shape(x); a = Shape<start=0, end=1>(x); b = Shape<start=1, end=2>(x); "

NODES = {
    "matrices": (IMAGE, "t = Transpose<perm=[0, 1, 3, 2]>(x); y = MatMul(x, t)"),
    "a vector": ("float[n] x", "y = MatMul(x, x)"),
    "a matrix and a vector": (
        ROWS,
        "t = Transpose(x); r = ReduceSum<keepdims=0>(x, zero); y = MatMul(x, r)",
    ),
    "gemm": (ROWS, "y = Gemm<transB=1>(x, x)"),
    "einsum": (ROWS, 'y = Einsum<equation="ij,kj->ik">(x, x)'),
    "reshape": (IMAGE, OF_SIZE + "r = Concat<axis=0>(minus, a); y = Reshape(x, r)"),
    "reshape with 0": (IMAGE, "y = Reshape(x, zero_minus)"),
    "reshape to a half": (
        "float[n, 4, m] x",
        OF_SIZE + "h = Div(four, two); r = Concat<axis=0>(a, h, two, minus); y = Reshape(x, r)",
    ),
    "flatten": (IMAGE, "y = Flatten<axis=-2>(x)"),
    "squeeze": ("float[n, 1, m] x", "y = Squeeze(x, one)"),
    "unsqueeze": (ROWS, "y = Unsqueeze(x, minus)"),
    "concat": (ROWS, "t = Concat<axis=-1>(x, x, x); y = Relu(t)"),
    "split": (IMAGE, "y, z = Split<axis=3, num_outputs=2>(x)"),
    "split of sizes": (
        ROWS,
        OF_SIZE + "k = Sub(b, one); p = Concat<axis=0>(one, k); y, z = Split<axis=1>(x, p)",
    ),
    "slice": (ROWS, OF_SIZE + "h = Div(b, two); y = Slice(x, h, b, one)"),
    "slice backwards": (ROWS, "y = Slice(x, minus, least, one, minus_two)"),
    "slice of a share": (
        ROWS,
        OF_SIZE + "f = Cast<to=1>(b); g = Mul(f, share); "
        "h = Cast<to=7>(g); y = Slice(x, zero, h, one)",
    ),
    "slice up to -1": (ROWS, "y = Slice(x, zero, minus, one)"),
    "gather": (ROWS, "y = Gather<axis=1>(x, places)"),
    "gather each": (ROWS, "y = GatherElements<axis=1>(x, ids)"),
    "gather deep": (ROWS, "y = GatherND(x, ids)"),
    "expand": (ROWS, OF_SIZE + "e = Concat<axis=0>(four, a, one); y = Expand(x, e)"),
    "expand, as TorchScript does": (
        ROWS,
        OF_SIZE + "v = Concat<axis=0>(minus, b); "
        "l = Shape(v); o = ConstantOfShape<value=int64[1] {1}>(l); k = Mul(o, minus); "
        "q = Equal(v, k); e = Where(q, o, v); y = Expand(x, e)",
    ),
    "tile": (ROWS, OF_SIZE + "t = Concat<axis=0>(two, a); y = Tile(x, t)"),
    "filled": (ROWS, OF_SIZE + "c = ConstantOfShape(s); y = Neg(c)"),
    "range": (ROWS, OF_SIZE + "l = Squeeze(b); r = Range(nothing, l, step); y = Cast<to=1>(r)"),
    "short range": (ROWS, "r = Range(nothing, step, step); y = Gather<axis=1>(x, r)"),
    "pad": (IMAGE, "y = Pad(x, pads)"),
    "pad of sizes": (ROWS, OF_SIZE + "p = Concat<axis=0>(a, zero, zero, b); y = Pad(x, p)"),
    "convolution": (IMAGE, "y = Conv<pads=[1, 0, 0, 1], strides=[2, 1], dilations=[1, 2]>(x, w)"),
    "convolution, same": (IMAGE, 'y = Conv<auto_pad="SAME_UPPER", strides=[2, 2]>(x, w)'),
    "transposed": (
        IMAGE,
        "y = ConvTranspose<strides=[2, 3], pads=[1, 0, 0, 1], "
        "output_padding=[1, 0], group=2>(x, w)",
    ),
    "pool": (IMAGE, "y, z = MaxPool<kernel_shape=[3, 2], strides=[2, 2]>(x)"),
    "pool, rounded up": (
        IMAGE,
        "y = MaxPool<kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1], ceil_mode=1>(x)",
    ),
    "average pool": (IMAGE, "y = AveragePool<kernel_shape=[2, 2], pads=[0, 1, 0, 1]>(x)"),
    "global pool": (IMAGE, "y = GlobalAveragePool(x)"),
    "scaled": (IMAGE, 'y = Resize<mode="nearest">(x, , scales)'),
    "resized": (
        IMAGE,
        OF_SIZE + "e = Slice(s, zero, two, zero); f = Concat<axis=0>(e, four, b); "
        "y = Resize(x, , , f)",
    ),
    "depth to space": (IMAGE, "y = DepthToSpace<blocksize=2>(x)"),
    "reduced": (IMAGE, "y = ReduceMean<keepdims=0>(x, minus)"),
    "reduced as a whole": (IMAGE, "y = ReduceMax(x)"),
    "argmax": (IMAGE, "z = ArgMax<axis=-2, keepdims=0>(x); y = Cast<to=1>(z)"),
    "top": (ROWS, OF_SIZE + "k = Min(b, five); y, z = TopK(x, k)"),
    "clamped": (ROWS, OF_SIZE + "c = Clip(b, , top); y = Slice(x, zero, c, one)"),
    "one hot": (ROWS, "y = OneHot<axis=1>(ids, four, ends)"),
    "number of elements": (ROWS, "z = Size(x); k = Reshape(z, minus); y = ConstantOfShape(k)"),
    "product of sizes": (ROWS, OF_SIZE + "k = ReduceProd(s); y = ConstantOfShape(k)"),
    "lstm": (
        "float[m, n, 4] x",
        'y, h, c = LSTM<hidden_size=3, direction="bidirectional">(x, gates, again)',
    ),
    "a size that is compared": (
        ROWS,
        OF_SIZE + "q = Equal(a, five); k = Where(q, one, b); y = Slice(x, zero, k, one)",
    ),
    "determinant": ("float[n, m, 3, 3] x", "y = Det(x)"),
    "broadcast": (ROWS, "r = ReduceMax<keepdims=1>(x, zero); y = Add(x, r)"),
}
CONSTANTS = {
    **{
        name: np.array([value])
        for name, value in {
            "zero": 0,
            "one": 1,
            "two": 2,
            "four": 4,
            "five": 5,
            "minus": -1,
            "minus_two": -2,
            "least": -(2**40),
        }.items()
    },
    "zero_minus": np.array([0, -1]),
    "nothing": np.array(0),
    "step": np.array(2),
    "top": np.array(3),
    "places": np.array([[0, 1], [2, 3], [0, 0]]),
    "ids": np.array([[0, 0]]),
    "share": np.array([0.58], "f4"),
    "ends": np.array([0, 1], "f4"),
    "pads": np.array([0, 1, 2, 0, 0, 0, 3, 1]),
    "w": np.zeros((4, 4, 2, 3), "f4"),
    "scales": np.array([1, 1, 2.7, 0.5], "f4"),
    "gates": np.zeros((2, 12, 4), "f4"),
    "again": np.zeros((2, 12, 3), "f4"),
}


def written(path: Path, given: str, nodes: str) -> Path:
    lines = "\n".join(line.strip() for line in nodes.split("; "))
    model = parser.parse_model(
        f'<ir_version: 9, opset_import: ["": 18]> g ({given}) => (float y) {{\n{lines}\n}}'
    )
    model.graph.output[0].type.tensor_type.ClearField("shape")
    used = {name for node in model.graph.node for name in node.input}
    model.graph.initializer.extend(
        onnx.numpy_helper.from_array(value, name)
        for name, value in CONSTANTS.items()
        if name in used
    )
    onnx.save(model, path)
    return path


def returned(path: Path, sizes: dict[str, int]) -> tuple[int, ...]:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    shape = [sizes.get(size, size) for size in session.get_inputs()[0].shape]
    return tuple(session.run(["y"], {"x": np.zeros(shape, "f4")})[0].shape)


@pytest.mark.parametrize("case", NODES)
def test_shapes_are_those_that_the_runtime_returns(tmp_path: Path, case: str) -> None:
    path = written(tmp_path / "m.onnx", *NODES[case])
    found = shapes_at_all(path, SIZES)
    assert found == [{"y": returned(path, sizes)} for sizes in SIZES]


def test_float32_rounds_as_in_the_file(tmp_path: Path) -> None:
    """`int(50 * 0.58)` is 28 in float64, and 29 in float32."""
    found = shapes_at_all(
        written(tmp_path / "m.onnx", *NODES["slice of a share"]), [{"n": 2, "m": 50}]
    )
    assert found == [{"y": (2, 29)}]


@pytest.mark.parametrize("nodes", ["z = NonZero(x); y = Cast<to=1>(z)", "y = Unique(x)"])
def test_what_depends_on_values_is_unknown(tmp_path: Path, nodes: str) -> None:
    assert shapes_at_all(written(tmp_path / "m.onnx", ROWS, nodes), SIZES) == [{}] * len(SIZES)


def test_operators_are_those_of_onnx() -> None:
    known = {schema.name for schema in onnx.defs.get_all_schemas()}
    assert known >= AS_FIRST | BROADCAST
