"""Operators that torch's exporter lacks in scripts compute what they compute in eager PyTorch."""

from __future__ import annotations

import math
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import onnx_ir as ir
import onnxruntime
import pytest
import torch

from modelexport_exporter.convert.script_definitions import DEFINITIONS
from modelexport_exporter.convert.script_operators import write_missing_operators
from modelexport_exporter.convert.script_symbolics import script_symbolics
from modelexport_exporter.convert.torchscript import adapt_script, adapt_translation
from modelexport_exporter.decompositions import rewriting_calls

OPSET = 20
MATRIX = (
    "(x.nan_to_num(0.5).sigmoid() @ x.nan_to_num(0.5).sigmoid().t() + 2 * torch.eye(x.shape[0]))"
)
"""A well-conditioned matrix made of x, of any number of rows."""
FACTOR, FLIPPED = f"torch.linalg.cholesky({MATRIX})", f"{MATRIX}.flip(0)"
EXPRESSIONS = {
    "addcdiv": "torch.addcdiv(x, x, y, value=0.5)",
    "addmv": "torch.addmv(x[:, 0], x, y[0], beta=0.5, alpha=2)",
    "argwhere": "torch.argwhere(x > 0)",
    "bilinear": "torch.nn.functional.bilinear(x, y, x[:3, :, None] * y[0], x[:3, 0])",
    "bincount": "torch.bincount((x[0] > 0).long(), y[0].abs(), 3)",
    "cholesky_inverse": f"torch.cholesky_inverse(torch.linalg.cholesky({MATRIX}))",
    "cholesky_solve": f"torch.cholesky_solve({MATRIX}.flip(0), {MATRIX})",
    "chunk": "torch.cat([part.amax(1) * 2 for part in torch.chunk(x, 4, 1)])",
    "copysign.Tensor": "torch.copysign(y, x)",
    "count_nonzero": "torch.count_nonzero(x > 0, 1)",
    "count_nonzero.dim_IntList": "torch.count_nonzero(x > 0, [0, 1])",
    "cpu": "x.cpu() + 1",
    "cummax": "torch.cummax(torch.round(x), 1)[1] + torch.cummax(x, -1)[0]",
    "cummin": "torch.cummin(x.long(), 0)[0] * 9 + torch.cummin(torch.round(x), 0)[1]",
    "deg2rad": "torch.deg2rad(x)",
    "diag": "torch.diag(x[0], -1) * 2 - torch.diag(y[0], 1)",
    "diag_embed": "torch.diag_embed(x, -1).sum(2) - torch.diag_embed(y, 1).sum(1)",
    "diff": "torch.diff(x, 2, 1, x[:, :1], y[:, :2])",
    "dist": "torch.dist(x, y, 2.0)",
    "expm1": "torch.expm1(x)",
    "fliplr": "torch.fliplr(x)",
    "flipud": "torch.flipud(x)",
    "fmax": "torch.fmax(x, y)",
    "fmin": "torch.fmin(y, x)",
    "frac": "torch.frac(x)",
    "heaviside": "torch.heaviside(x, y)",
    "huber_loss": "torch.nn.functional.huber_loss(x, y, delta=0.5)",
    "hypot": "torch.hypot(x, y)",
    "inner": "torch.inner(x, y)",
    "isclose": "torch.isclose(x, x + 1e-6 * y, equal_nan=True)",
    "isneginf": "torch.isneginf(x)",
    "isposinf": "torch.isposinf(x)",
    "l1_loss": "torch.nn.functional.l1_loss(x, y)",
    "linalg_cholesky": f"torch.linalg.cholesky({MATRIX}, upper=True) * 2 + {FACTOR}",
    "linalg_inv": f"torch.linalg.inv({MATRIX})",
    "linalg_slogdet": f"torch.linalg.slogdet({FLIPPED})[0] * torch.linalg.slogdet({MATRIX})[1]",
    "linalg_solve": f"torch.linalg.solve({MATRIX}, {MATRIX}.flip(0)[:, 0])",
    "linalg_solve_triangular": f"torch.linalg.solve_triangular({MATRIX}, {FLIPPED}, upper=True)",
    "log1p": "torch.log1p(x.abs() * 1e-6) * 1e6",
    "log2": "torch.log2(torch.pow(2.0, torch.round(x))).floor() + torch.log2(x.abs() + 1)",
    "log_sigmoid": "torch.nn.functional.logsigmoid(x * 30)",
    "logaddexp": "torch.logaddexp(x, y)",
    "logdet": f"torch.logdet({MATRIX})",
    "mT": "x.mT + 0",
    "msort": "torch.msort(x)",
    "nanmean": "torch.nanmean(x, [1], True)",
    "nansum": "torch.nansum(x, [0])",
    "positive": "torch.positive(x) * 2",
    "rad2deg": "torch.rad2deg(x)",
    "ravel": "x.t().ravel()",
    "sgn": "torch.sgn(x)",
    "signbit": "torch.signbit(x)",
    "sinc": "torch.sinc(x)",
    "slogdet": f"torch.slogdet({MATRIX})[1]",
    "smooth_l1_loss": "torch.nn.functional.smooth_l1_loss(x, y, reduction='none', beta=0.7)",
    "trace": "torch.trace(x)",
    "trapezoid.dx": "torch.trapezoid(x, dx=0.3, dim=0)",
    "trapezoid.x": "torch.trapezoid(x, y, dim=1)",
    "triangular_solve": f"torch.triangular_solve({MATRIX}.flip(0), {MATRIX}, upper=False)[0]",
    "xlogy.Tensor": "torch.xlogy(x, y)",
}
PLAIN = torch.linspace(-2, 3, 12).reshape(3, 4)
SQUARE = torch.tensor([[0.0, -0.0, 1e-5], [30.0, -30.0, 0.5], [-1.0, 2.5, 1e-30]])
UNUSUAL = torch.tensor([[math.nan, math.inf, -math.inf], [0.0, -0.0, 1.0], [-1.0, math.nan, 5.0]])
WITHOUT_UNUSUAL = {"addmv", "dist", "inner", "msort", "trapezoid.dx", "trapezoid.x"}
"""Sums of infinities of both signs, and orders of NaN, are not what is tested."""


CODE = """
import torch

class Module(torch.nn.Module):
    def forward(self, x, y):
        return {expression}
"""


def script_of(expression: str, directory: Path) -> Any:  # noqa: ANN401 - a compiled module
    """Compile a module that computes an expression of x and y."""
    file = directory / "code.py"
    file.write_text(CODE.format(expression=expression))
    return torch.jit.script(runpy.run_path(str(file))["Module"]())


def test_each_definition_has_an_expression() -> None:
    assert sorted(EXPRESSIONS) == sorted(DEFINITIONS)


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_a_script_computes_the_operator(name: str, tmp_path: Path) -> None:
    expression, file = EXPRESSIONS[name], tmp_path / "m.onnx"
    compiled = script_of(expression, tmp_path)
    with torch.no_grad(), script_symbolics(), rewriting_calls(frozenset(), OPSET):
        assert f"aten::{name.partition('.')[0]}(" in str(compiled.inlined_graph)
        literals = adapt_script(compiled, OPSET, [torch.float32, torch.float32])
        torch.onnx.export(
            compiled,
            (PLAIN, PLAIN.flip(1)),
            str(file),
            dynamo=False,
            opset_version=OPSET,
            input_names=["x", "y"],
            dynamic_axes={"x": [0, 1], "y": [0, 1]},
        )
    ir.save(adapt_translation(ir.load(file), literals), file)
    session = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])
    for x in (PLAIN, SQUARE, *(() if name in WITHOUT_UNUSUAL else (UNUSUAL,))):
        y = x.flip(1).contiguous()
        arrays = {"x": x.numpy(), "y": y.numpy()}
        (got,) = session.run(
            None, {entry.name: arrays[entry.name] for entry in session.get_inputs()}
        )
        want = eval(expression, {"torch": torch, "x": x, "y": y}).numpy()
        assert got.dtype == want.dtype
        np.testing.assert_allclose(got, want, rtol=3e-6, atol=1e-37)


def test_operators_that_a_plugin_translates_are_left_alone(tmp_path: Path) -> None:
    graph = script_of("x.diff()", tmp_path).graph
    write_missing_operators(graph, OPSET, {"aten::diff"})
    assert "aten::diff(" in str(graph)
    write_missing_operators(graph, OPSET, frozenset())
    assert "aten::diff(" not in str(graph)
