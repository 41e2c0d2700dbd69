"""Arithmetic on sizes in files of torch's TorchScript exporter."""

from __future__ import annotations

import importlib.util
import itertools
import math
from pathlib import Path

import numpy as np
import onnx_ir as ir
import onnxruntime
import pytest
import torch

from modelexport_exporter.convert.declared_numbers import with_single_precision
from modelexport_exporter.convert.names import make_names_unique
from modelexport_exporter.convert.script_sizes import compute_script_sizes_in_double, likely_double
from modelexport_exporter.convert.script_symbolics import script_symbolics

NUMBERS = (
    "math.sqrt(n)", "n / 3", "n * 0.58", "math.log(n)", "n ** 0.5", "math.pow(n, 0.3)", "1 / n",
    "float(n) * 0.1", "n + 0.1", "math.exp(n / 70)", "1.7 - n", "(n * 0.3 + 0.1) / 1.7",
    "-(n * 0.3)", "math.floor(n * 0.29)", "math.ceil(n / 0.7)", "round(n * 0.3)", "(n * 0.7) % 0.3",
    "(n * 0.7) // 0.1", "math.sqrt(n * 0.3)", "math.log10(n)", "math.log1p(n)", "math.sin(n)",
    "n // 3", "n % 3", "max(n * 0.3, 1.1)", "(n * 0.1) > 0.3", "n * math.pi",
)  # fmt: skip
SIZES = (1, 2, 3, 7, 50, 90, 101)


def sessions(
    code: str, dtype: torch.dtype, place: Path
) -> tuple[torch.nn.Module, onnxruntime.InferenceSession]:
    """Return a scripted model and its file, whose sizes are computed in double."""
    source = place / "model.py"
    source.write_text(
        "import math\nimport torch\n\n\nclass Model(torch.nn.Module):\n"
        f"    def forward(self, x):\n        n = x.shape[0]\n        {code}\n"
    )
    spec = importlib.util.spec_from_file_location(f"sized_{abs(hash(code))}", source)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    model = torch.jit.script(module.Model().eval())
    with script_symbolics():
        torch.onnx.export(
            model,
            (torch.ones(5, 4, dtype=dtype),),
            str(place / "before.onnx"),
            dynamo=False,
            input_names=["x"],
            dynamic_axes={"x": {0: "n"}},
            opset_version=18,
        )
    computed = compute_script_sizes_in_double(ir.load(place / "before.onnx"))
    ir.save(make_names_unique(computed), place / "after.onnx")
    return model, onnxruntime.InferenceSession(place / "after.onnx")


@pytest.mark.parametrize("number", NUMBERS)
def test_a_number_made_of_sizes_is_the_double_that_python_computes(
    number: str, tmp_path: Path
) -> None:
    _, session = sessions(f"return x * float({number})", torch.float64, tmp_path)
    for size in SIZES:
        x = np.ones((size, 4))
        (have,) = session.run(None, {"x": x})
        # Not what the script computes: its 35.0 // 0.1 is 350.
        want = float(eval(number, {"n": size, "math": math}))
        np.testing.assert_allclose(have, x * want, rtol=1e-13)


def test_a_float32_tensor_meets_the_number_as_float32(tmp_path: Path) -> None:
    model, session = sessions("return x / math.sqrt(n) + n", torch.float32, tmp_path)
    for size in SIZES:
        x = torch.rand(size, 4)
        (have,) = session.run(None, {"x": x.numpy()})
        assert have.dtype == np.float32
        np.testing.assert_allclose(have, model(x).numpy(), rtol=1e-6)


def test_a_branch_compares_doubles(tmp_path: Path) -> None:
    code = "return x + 1.0 if n * 0.58 < 29 else x * (n * 0.1)"
    model, session = sessions(code, torch.float64, tmp_path)
    for size in SIZES:
        x = torch.ones(size, 4, dtype=torch.float64)
        (have,) = session.run(None, {"x": x.numpy()})
        np.testing.assert_allclose(have, model(x).numpy(), rtol=1e-13)


class Scaled(torch.nn.Module):
    def forward(self, x: torch.Tensor, factor: float) -> tuple[torch.Tensor, torch.Tensor]:
        size = (int(x.shape[2] * factor), int(x.shape[3] * factor))
        resized = torch.nn.functional.interpolate(x, size=size, mode="nearest")
        return resized, x * (factor * 3.0)


def test_sizes_times_a_number_that_forward_takes(tmp_path: Path) -> None:
    """1.4 as float32 is 1.39999998: five rows become 6.9999999, which is 6, and 7 in float32."""
    model, path = torch.jit.script(Scaled().eval()), tmp_path / "before.onnx"
    with script_symbolics():
        torch.onnx.export(
            model, (torch.ones(1, 1, 5, 4), 1.7), str(path), dynamo=False, opset_version=18,
            input_names=["x", "factor"], dynamic_axes={"x": {2: "h", 3: "w"}},
        )  # fmt: skip
    file = with_single_precision(ir.load(path), {"factor"})
    ir.save(make_names_unique(compute_script_sizes_in_double(file)), tmp_path / "after.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "after.onnx")
    for height, factor in itertools.product(
        range(3, 12), np.arange(0.5, 2.5, 0.1).astype(np.float32)
    ):
        x = torch.rand(1, 1, height, 4)
        found = session.run(None, {"x": x.numpy(), "factor": np.array(factor)})
        for have, want in zip(found, model(x, float(factor)), strict=True):
            np.testing.assert_allclose(have, want.numpy(), rtol=1e-6)


@pytest.mark.parametrize(
    "number", [0.58, 1e-9, -100.5, 3.0, math.pi, -math.e, math.log(10), 1 / math.log(2)]
)
def test_the_double_of_a_rounded_constant(number: float) -> None:
    assert likely_double(np.float32(number)) == number
