"""Export one call of torch by the TorchScript route, and run it at other sizes than the trace's."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from typing import Any

import onnxruntime
import torch
from torch import Tensor, nn

from decomposed import assert_same
from modelexport_exporter.decompositions import rewriting_calls

Function = Callable[..., Any]


class Calls(nn.Module):
    def __init__(self, function: Function) -> None:
        super().__init__()
        self._function = function

    def forward(self, x: Tensor, n: Tensor) -> Any:  # noqa: ANN401
        return self._function(x, n)


def drawn(rows: int) -> tuple[Tensor, Tensor]:
    """Return floats and integers of that many rows and four columns."""
    generator = torch.Generator().manual_seed(rows)
    floats = torch.randn(rows, 4, generator=generator)
    return floats, torch.randint(-3, 6, (rows, 4), generator=generator)


def exported(function: Function, opset: int, disabled: tuple[str, ...] = ()) -> bytes:
    """Return the file; the number of rows is dynamic."""
    file = io.BytesIO()
    with warnings.catch_warnings(), torch.no_grad(), rewriting_calls(disabled, opset):
        warnings.simplefilter("ignore")
        torch.onnx.export(
            Calls(function),
            drawn(5),
            file,  # type: ignore[arg-type]
            dynamo=False,
            opset_version=opset,
            input_names=["x", "n"],
            dynamic_axes={"x": {0: "rows"}, "n": {0: "rows"}},
        )
    return file.getvalue()


def assert_exported_as_eager(function: Function, opset: int) -> None:
    """Fail where the file computes another value, dtype or shape than the function."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    file = exported(function, opset)
    session = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
    taken = {value.name for value in session.get_inputs()}
    for rows in (5, 3, 8):
        x, n = drawn(rows)
        expected = function(x, n)
        feeds = {name: value.numpy() for name, value in (("x", x), ("n", n)) if name in taken}
        found = session.run(None, feeds)
        listed = [expected] if isinstance(expected, Tensor) else list(expected)
        assert len(found) == len(listed)
        for want, got in zip(listed, found, strict=True):
            assert_same(want, torch.from_numpy(got))
