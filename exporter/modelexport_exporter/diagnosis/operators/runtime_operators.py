"""Which operators outside the ONNX standard the installed onnxruntime has.

Its own schemas say so.
"""

from __future__ import annotations

from functools import cache

_STANDARD = {"", "ai.onnx", "ai.onnx.ml", "ai.onnx.preview.training", "ai.onnx.training"}


@cache
def _known() -> dict[str, str]:
    """Return `domain::Name` of the runtime's operators outside the standard, by folded name."""
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    return {
        _folded(schema.name): f"{schema.domain}::{schema.name}"
        for schema in state.get_all_operator_schema()
        if schema.domain not in _STANDARD and "internal" not in schema.domain
    }


def runtime_operator(name: str) -> str | None:
    """Return `com.microsoft::BiasGelu` for `mine::bias_gelu.default`; None if there is none."""
    return _known().get(_folded(name.partition("::")[2].partition(".")[0]))


def _folded(name: str) -> str:
    return name.replace("_", "").lower()
