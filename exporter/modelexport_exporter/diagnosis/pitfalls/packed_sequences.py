"""Packed sequences and hidden states of a fixed batch: recurrent layers with dynamic lengths."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from modelexport_exporter.core.pitfall import Pitfall, PitfallKind
from modelexport_exporter.diagnosis.pitfalls.forward_code import ForwardCode

_PACKING = {"pack_padded_sequence", "pack_sequence"}


def find(code: ForwardCode) -> Iterator[Pitfall]:
    """Yield calls that pack sequences."""
    for call in code.walk(ast.Call):
        if code.dotted(call.func).rpartition(".")[2] in _PACKING:
            yield Pitfall(
                PitfallKind.PACKED_SEQUENCE,
                f"`{code.text(call)}` packs by the lengths' values, which only TorchScript's route "
                "can translate, for one layer that gets and unpacks it at once",
                code.place(call),
                "Run the layer on the padded batch and mask what follows each length: "
                "torch.where(torch.arange(n)[:, None] < lengths, y, 0).",
            )
