"""Calls in float64, exported as one file by the product's own conversion, beside eager."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir
import onnxruntime
import torch
from torch import Tensor

from modelexport_api.spec import ModelExportSpec
from modelexport_exporter.call import bind_inputs
from modelexport_exporter.convert.capture import capture
from modelexport_exporter.convert.dynamo import finish, translate
from modelexport_exporter.convert.exact_kernels import Declared, avoid_inexact_kernels
from modelexport_exporter.plugins.contents import Contents
from modelexport_exporter.plugins.plugins import Plugins
from modelexport_exporter.plugins.symbolics import SymbolicWatch

RELATIVE = 1e-12
"""What may differ, relative to the element; a constant of float32 is off by 1e-8."""
OF_PEAK = 1e-14
"""What may differ besides, relative to the largest element: sums cancel."""


class Call:
    """A function of one vector of float64."""

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    def x(self) -> Tensor:
        """What it is called with."""
        raise NotImplementedError

    def __call__(self, x: Tensor) -> list[Tensor]:
        raise NotImplementedError


class Outputs(torch.nn.Module):
    """The answers of all calls, each to its part of the input."""

    def __init__(self, calls: Sequence[Call]) -> None:
        super().__init__()
        self._calls = calls

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        answers: list[Tensor] = []
        begin = 0
        for call in self._calls:
            size = call.x.numel()
            answers += call(x[begin : begin + size])
            begin += size
        return tuple(answers)


@dataclass(frozen=True)
class Answer:
    """What a call returned in eager and in the file, flat."""

    name: str
    wanted: Sequence[np.ndarray]
    found: Sequence[np.ndarray]

    @property
    def difference(self) -> str:
        """What differs first; empty if nothing does."""
        pairs = zip(self.wanted, self.found, strict=True)
        return next((text for want, got in pairs if (text := _difference(want, got))), "")


def answers(calls: Sequence[Call], opset: int = 20) -> list[Answer]:
    """Export the calls, and return what they answer. Raises what conversion and runtime raise."""
    x = torch.cat([call.x for call in calls])
    session = onnxruntime.InferenceSession(
        ir.serde.serialize_model(converted(Outputs(calls), x, opset)).SerializeToString(),
        providers=["CPUExecutionProvider"],
    )
    found = iter(session.run(None, {"x": x.numpy()}))
    answered = []
    for call in calls:
        with torch.no_grad():
            wanted = [answer.detach().numpy() for answer in call(call.x.clone())]
        answered.append(Answer(call.name, wanted, [next(found) for _ in wanted]))
    return answered


def converted(module: torch.nn.Module, x: Tensor, opset: int) -> ir.Model:
    """Return the module as the Dynamo rung converts it."""
    spec = ModelExportSpec.model_validate(
        {
            "source": {"uri": "file:///model.pt"},
            "model": {"factory": "model:build"},
            "inputs": [{"name": "x", "dtype": "float64", "shape": list(x.shape)}],
            "export": {"opset": opset},
            "destination": {"uri": "file:///out/"},
        }
    )
    bound = bind_inputs(spec, module, None)
    program = capture(module, bound, None)
    plugins = Plugins(spec, None, Contents(), SymbolicWatch())
    model = finish(translate(program, bound.spec, plugins, None), optimize=True)
    return avoid_inexact_kernels(model, Declared.of(spec))


def _difference(want: np.ndarray, got: np.ndarray) -> str:
    if (want.dtype, want.shape) != (got.dtype, got.shape):
        return f"{want.dtype}{want.shape} != {got.dtype}{got.shape}"
    if want.dtype.kind != "f":
        return "" if np.array_equal(want, got) else "integers differ"
    finite = np.isfinite(want)
    if not np.array_equal(want[~finite], got[~finite], equal_nan=True):
        return "NaN or infinity differs"
    sizes = np.abs(want[finite])
    limit = RELATIVE * sizes + OF_PEAK * sizes.max(initial=0)
    with np.errstate(invalid="ignore"):
        wrong = ~(np.abs(want[finite] - got[finite]) <= limit)
    if not wrong.any():
        return ""
    return f"{got[finite][wrong][0]!r}, eager {want[finite][wrong][0]!r}"
