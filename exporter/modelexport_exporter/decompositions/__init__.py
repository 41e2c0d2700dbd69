"""Decompositions of operators that torch.onnx cannot translate, or translates wrongly."""

from __future__ import annotations

from modelexport_exporter.decompositions.library import provided
from modelexport_exporter.decompositions.replaced_calls import capturing_calls, rewriting_calls
from modelexport_exporter.decompositions.rewrite import decomposing, prepared

__all__ = ["capturing_calls", "decomposing", "prepared", "provided", "rewriting_calls"]
