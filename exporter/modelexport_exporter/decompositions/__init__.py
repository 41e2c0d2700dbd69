"""Decompositions of operators that torch.onnx cannot translate, or translates wrongly."""

from __future__ import annotations

from modelexport_exporter.decompositions.library import provided
from modelexport_exporter.decompositions.replaced_calls import capturing_calls, rewriting_calls
from modelexport_exporter.decompositions.rewrite import rewrite_program, whole_table

__all__ = ["capturing_calls", "provided", "rewrite_program", "rewriting_calls", "whole_table"]
