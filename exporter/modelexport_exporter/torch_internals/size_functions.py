"""Functions of sizes that torch.export captures, and torch.onnx does not translate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from onnxscript.onnx_opset import opset18 as op


def _square_root(x: Any) -> Any:  # noqa: ANN401
    return op.Sqrt(x)


def _round(x: Any, digits: int | None = None) -> Any:  # noqa: ANN401
    if digits is not None:
        msg = "round() of a size takes no digits"
        raise NotImplementedError(msg)
    return op.Cast(op.Round(x), to=7)


TRANSLATIONS: dict[Any, Callable[..., Any]] = {
    torch._sym_sqrt: _square_root,  # type: ignore[attr-defined]  # noqa: SLF001
    round: _round,
}
"""For torch.onnx's custom_translation_table."""
