"""The ONNX checker."""

from __future__ import annotations

from pathlib import Path

import onnx


def checker_error(path: Path) -> str:
    """Return why the ONNX checker, types and shapes included, refuses a file; empty if not."""
    try:
        onnx.checker.check_model(str(path), full_check=True)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError) as error:
        return " ".join(str(error).split())[:600]
    return ""
