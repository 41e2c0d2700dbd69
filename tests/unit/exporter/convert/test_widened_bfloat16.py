"""Graphs in bfloat16 compute in float32 on a CPU, and round where PyTorch rounds."""

from __future__ import annotations

import numpy as np
import onnx
import onnx.parser
import onnx_ir as ir
import onnxruntime
import pytest
import torch

from modelexport_exporter.convert.widened_bfloat16 import widen_bfloat16

HEAD = '<ir_version: 9, opset_import: ["" : 20]>'


def widened(text: str) -> ir.Model:
    model = ir.from_proto(onnx.parser.parse_model(HEAD + text))
    widen_bfloat16(model)
    onnx.checker.check_model(ir.to_proto(model), full_check=True)
    return model


def operators(graph: ir.Graph | ir.GraphView) -> list[str]:
    return [node.op_type for node in graph]


def run(model: ir.Model, *inputs: torch.Tensor) -> torch.Tensor:
    session = onnxruntime.InferenceSession(
        ir.to_proto(model).SerializeToString(), providers=["CPUExecutionProvider"]
    )
    bound = session.io_binding()
    for name, value in zip((one.name for one in session.get_inputs()), inputs, strict=True):
        bits = value.view(torch.int16).numpy().view(np.uint16)
        fed = onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(bits, 16)
        bound.bind_ortvalue_input(name, fed)
    [output] = session.get_outputs()
    assert output.type == "tensor(bfloat16)"
    bound.bind_output(output.name)
    session.run_with_iobinding(bound)
    [found] = bound.get_outputs()
    return torch.from_dlpack(found._ortvalue)  # type: ignore[attr-defined]


def drawn(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(0)).to(torch.bfloat16)


def test_each_op_rounds_as_eager_does() -> None:
    model = widened("""
        g (bfloat16[n, 8] x, bfloat16[8, 8] w) => (bfloat16[n, 8] y)
        { a = MatMul(x, w)  b = Add(a, x)  y = Mul(b, b) }""")
    x, w = drawn(5, 8), drawn(8, 8)
    sums = x @ w + x
    assert torch.equal(run(model, x, w), sums * sums)


def test_what_moves_elements_is_not_rounded_again() -> None:
    model = widened("""
        g (bfloat16[n, 8] x) => (bfloat16[8, n] y)
        { a = Exp(x)  y = Transpose<perm = [1, 0]>(a) }""")
    found = ["Cast", "Exp", "Cast", "Cast", "Transpose", "Cast"]
    assert operators(model.graph) == found
    x = drawn(3, 8)
    assert torch.equal(run(model, x), x.exp().T)


def test_a_value_that_nothing_reads_in_bfloat16_is_not_cast() -> None:
    model = widened("""
        g (bfloat16[n, 8] x) => (bfloat16[n, 8] y)
        { a = Neg(x)  y = Relu(a) }""")
    assert operators(model.graph) == ["Cast", "Neg", "Relu", "Cast"]


def test_constants_that_are_filled_in() -> None:
    model = widened("""
        g (bfloat16[n, 8] x) => (bfloat16[n, 8] y)
        { s = Shape(x)  z = ConstantOfShape<value = bfloat16[1] {16448}>(s)  y = Add(x, z) }""")
    x = drawn(2, 8)  # 16448 are the bits of 3
    assert torch.equal(run(model, x), x + 3)


def test_loops_and_branches_carry_bfloat16() -> None:
    model = widened("""
        g (bfloat16[n, 8] x) => (bfloat16[n, 8] y)
        {
            three = Constant<value = int64 {3}>()
            yes = Constant<value = bool {1}>()
            y = Loop(three, yes, x) <body = body (int64 i, bool go, bfloat16[n, 8] v)
                => (bool go_on, bfloat16[n, 8] w) {
                go_on = Identity(go)
                half = Mul(v, x)
                w = If(go) <
                    then_branch = t () => (bfloat16[n, 8] p) { p = Add(half, v) },
                    else_branch = e () => (bfloat16[n, 8] q) { q = Identity(v) }>
            }>
        }""")
    x = want = drawn(3, 8)
    for _ in range(3):
        want = want * x + want
    assert torch.equal(run(model, x), want)


@pytest.mark.parametrize("dtype", ["float", "float16"])
def test_other_dtypes_stay_as_they_are(dtype: str) -> None:
    text = f"g ({dtype}[n, 8] x) => ({dtype}[n, 8] y) {{ y = Add(x, x) }}"
    assert operators(widened(text).graph) == ["Add"]
