"""Scripts whose floats are all float64: their rows are no numbers of float32."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import onnx_ir as ir
import onnxruntime
import pytest
import torch

from modelexport_exporter.convert.script_dtypes import default_is_double, is_double
from modelexport_exporter.convert.script_symbolics import script_symbolics
from modelexport_exporter.convert.torchscript import adapt_script, adapt_translation

OPSET = 20
CODE = """
import torch

class Module(torch.nn.Module):
    def forward(self, x):
        level = x[0]
        for place in range(1, x.shape[0]):
            level = 0.4 * x[place] + (1 - 0.4) * level
        return {result}
"""


def script_of(result: str, directory: Path) -> Any:  # noqa: ANN401 - a compiled module
    file = directory / "code.py"
    file.write_text(CODE.format(result=result))
    return torch.jit.script(runpy.run_path(str(file))["Module"]())


@pytest.mark.parametrize(
    ("result", "double"),
    [
        ("level", True),
        ("level + torch.zeros(2)", False),
        ("level + torch.zeros(2, dtype=x.dtype)", True),
        ("level.float() * 2", False),
        ("level + torch.arange(3)", True),
        ("level + torch.arange(0.0, 3.0)", False),
        ("level + torch.tensor(0.5)", False),
        ("level + torch.tensor([1, 2, 3])", True),
        ("level + torch.full((3,), 1)", True),
        ("level + torch.full((3,), 1.5)", False),
        ("x.sum(dtype=torch.float64) + torch.ones_like(x)", True),
    ],
)
def test_whether_all_floats_are_float64(result: str, double: bool, tmp_path: Path) -> None:
    compiled = script_of(result, tmp_path)
    adapt_script(compiled, OPSET, [torch.float64])
    assert is_double(compiled, [torch.float64]) is double
    assert not is_double(compiled, [torch.float32])
    assert not is_double(compiled, [torch.int64])


def test_weights_count() -> None:
    compiled = torch.jit.script(torch.nn.Linear(2, 2))
    assert not is_double(compiled, [torch.float64])
    assert is_double(torch.jit.script(torch.nn.Linear(2, 2).double()), [torch.float64])


def test_a_loop_over_rows_computes_in_double(tmp_path: Path) -> None:
    x, file = torch.rand(5, dtype=torch.float64), tmp_path / "m.onnx"
    compiled = script_of("level", tmp_path)
    with torch.no_grad(), script_symbolics(), default_is_double(True):
        literals = adapt_script(compiled, OPSET, [torch.float64])
        options: dict[str, Any] = {"dynamo": False, "opset_version": OPSET}
        options |= {"input_names": ["x"], "dynamic_axes": {"x": [0]}}
        torch.onnx.export(compiled, (x,), str(file), **options)
    assert torch.get_default_dtype() is torch.float32
    ir.save(adapt_translation(ir.load(file), literals), file)
    session = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])
    for rows in (1, 2, 9):
        x = torch.rand(rows, dtype=torch.float64)
        (got,) = session.run(None, {"x": x.numpy()})
        assert got.dtype == np.float64
        np.testing.assert_allclose(got, compiled(x).numpy(), rtol=1e-14)
