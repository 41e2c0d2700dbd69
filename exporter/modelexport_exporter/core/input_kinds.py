"""Kinds of inputs that are Python numbers in the model, and tensors without dims in the file."""

from __future__ import annotations

from modelexport_api.spec import InputKind

NUMBERS = frozenset({InputKind.INT, InputKind.FLOAT, InputKind.BOOL})
