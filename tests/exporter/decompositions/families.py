"""Families of operators: the outputs of one model, exported once and run at other sizes."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import cast

import numpy as np
import onnx_ir as ir
import onnxruntime
import torch
from torch import Tensor

from modelexport_api.spec import ModelExportSpec
from modelexport_exporter.call import bind_inputs
from modelexport_exporter.convert.capture import capture
from modelexport_exporter.convert.dynamo import finish, translate
from modelexport_exporter.plugins.contents import Contents
from modelexport_exporter.plugins.plugins import Plugins
from modelexport_exporter.plugins.symbolics import SymbolicWatch

Functions = dict[str, Callable[[Tensor], object]]


def normal(*shape: int) -> Tensor:
    return 4 * torch.randn(shape)


def positive(*shape: int) -> Tensor:
    return 6 * torch.rand(shape) + 0.1


def inside(*shape: int) -> Tensor:
    return torch.rand(shape).clamp(0.001, 0.999)


def ties(*shape: int) -> Tensor:
    """Small whole numbers, also negative, each of them several times."""
    return torch.randint(-4, 5, shape).float()


def distinct(*shape: int) -> Tensor:
    return torch.randperm(int(np.prod(shape))).reshape(shape).float() - 3


def integers(*shape: int) -> Tensor:
    return torch.randint(-30, 31, shape)


def regular(*shape: int) -> Tensor:
    return torch.randn(shape) + 3 * torch.eye(shape[-1])


def assert_computes_what_eager_computes(
    functions: Functions, draw: Callable[..., Tensor], shape: list[str | int]
) -> None:
    """Export the operators as one model, and fail where a run at any size differs from eager."""
    model = Outputs(functions)
    torch.manual_seed(3)
    dtype = "int64" if draw is integers else "float32"
    session = _exported(model, shape, dtype)
    for sizes in ({"b": 4, "s": 7}, {"b": 6, "s": 5}, {"b": 3, "s": 11}):
        x = draw(*(sizes[size] if isinstance(size, str) else size for size in shape))
        expected = model(x)
        found = session.run(None, {"x": x.numpy()})
        owners = [name for name, function in functions.items() for _ in _listed(function(x))]
        wrong = {
            owner: problem
            for owner, want, array in zip(owners, expected, found, strict=True)
            if (problem := _difference(want, array))
        }
        assert not wrong, (sizes, wrong)


class Outputs(torch.nn.Module):
    """A model with one output (or several) for each function."""

    def __init__(self, functions: Functions) -> None:
        super().__init__()
        self._functions = functions

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        outputs: list[Tensor] = []
        for function in self._functions.values():
            outputs += _listed(function(x))
        return tuple(outputs)


def _exported(
    model: torch.nn.Module, shape: list[str | int], dtype: str
) -> onnxruntime.InferenceSession:
    spec = ModelExportSpec.model_validate(
        {
            "source": {"uri": "file:///model.pt"},
            "model": {"factory": "model:build"},
            "inputs": [{"name": "x", "dtype": dtype, "shape": shape}],
            "dims": {d: {"min": 2, "max": 16} for d in shape if isinstance(d, str)},
            "destination": {"uri": "file:///out/"},
        }
    )
    bound_inputs = bind_inputs(spec, model, None)
    program = capture(model, bound_inputs, None)
    plugins = Plugins(spec, None, Contents(), SymbolicWatch())
    translation = translate(program, bound_inputs.spec, plugins, None)
    converted = finish(translation, optimize=True)
    file = io.BytesIO(ir.serde.serialize_model(converted).SerializeToString())
    return onnxruntime.InferenceSession(file.getvalue(), providers=["CPUExecutionProvider"])


def _difference(expected: Tensor, found: np.ndarray) -> str:
    want = expected.detach().numpy()
    if want.dtype != found.dtype or want.shape != found.shape:
        return f"{want.dtype}{want.shape} != {found.dtype}{found.shape}"
    if want.dtype.kind != "f":
        return "" if np.array_equal(want, found) else f"{(want != found).mean():.0%} differ"
    finite = np.isfinite(want)
    if not np.array_equal(want[~finite], found[~finite], equal_nan=True):
        return "NaN or infinity differs"
    if not finite.any():
        return ""
    error = np.abs(want[finite] - found[finite]).max()
    return "" if error <= 1e-4 * np.abs(want[finite]).max() else f"off by {error}"


def _listed(result: object) -> list[Tensor]:
    return [result] if isinstance(result, Tensor) else list(cast("tuple[Tensor, ...]", result))
