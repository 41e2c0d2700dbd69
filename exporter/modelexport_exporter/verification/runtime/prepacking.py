"""Whether onnxruntime packs the weights of a file again for its matrix products, on a CPU."""

from __future__ import annotations

from collections.abc import Iterable

from modelexport_exporter.core.types import WrittenFile

LARGE_MODEL_BYTES = 256 << 20
"""Weights of this size and more are not prepacked, which would copy them into memory.

onnxruntime then packs them for each multiplication; outputs differ by rounding only.
"""


def why_not_prepacked(files: Iterable[WrittenFile]) -> str:
    """Return why the weights of a file are not prepacked; empty if they are."""
    size = sum(entry.size_bytes for entry in files)
    if size < LARGE_MODEL_BYTES:
        return ""
    return (
        f"onnxruntime's prepacking, which would copy {size / 1e9:.1f} GB of weights into "
        "memory: all samples ran without it (session.disable_prepacking)"
    )
