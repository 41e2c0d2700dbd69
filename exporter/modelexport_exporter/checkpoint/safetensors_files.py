"""Tensors of a safetensors file, mapped into memory and never copied.

Guarantees that a truncated file is CheckpointCorrupt before any tensor is used.
"""

from __future__ import annotations

from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file

from modelexport_api.reasons import Reason
from modelexport_exporter.checkpoint.formats import read_safetensors_header
from modelexport_exporter.core.errors import ExportFailure


def read_safetensors(path: Path) -> dict[str, torch.Tensor]:
    """Return the tensors of a file."""
    read_safetensors_header(path)
    try:
        return load_file(path)
    except (SafetensorError, OSError, ValueError) as error:
        raise ExportFailure(
            Reason.CHECKPOINT_CORRUPT,
            f"{path.name} cannot be read: {error}",
            "Upload the checkpoint again, with all of its shards and their index.",
        ) from error
