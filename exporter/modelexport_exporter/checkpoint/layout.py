"""The detected format of a checkpoint, and its layout on disk."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from modelexport_api.spec import Format


class Layout(Enum):
    """How the bytes are arranged; decides what can be mapped into memory."""

    ZIP = "zip"
    LEGACY_PICKLE = "legacy pickle"
    SAFETENSORS = "safetensors"
    SHARDS = "directory of safetensors shards"
    PICKLED_SHARDS = "directory of torch.save files"
    DISTRIBUTED = "directory of torch.distributed.checkpoint"


@dataclass(frozen=True)
class Detected:
    """The format of a checkpoint and its layout on disk."""

    format: Format
    layout: Layout
    pickled_class: str = ""
    """Where the checkpoint is a pickled object: its class, as the file names it."""

    def __str__(self) -> str:
        return f"{self.format.value} ({self.layout.value})"
