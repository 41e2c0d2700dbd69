"""Tensors of safetensors files, mapped into memory and never copied.

Guarantees that a truncated shard, a missing shard and an index that disagrees with its shards are
CheckpointCorrupt before any tensor is used.
"""

from __future__ import annotations

import json
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file

from modelexport_api.reasons import Reason
from modelexport_exporter.checkpoint.formats import (
    INDEX_SUFFIX,
    SAFETENSORS_SUFFIX,
    read_safetensors_header,
)
from modelexport_exporter.failure import ExportFailure

_HINT = "Upload the checkpoint again, with all of its shards and their index."


def read_safetensors(checkpoint: Path) -> dict[str, torch.Tensor]:
    """Return the tensors of a file, or of a directory of shards."""
    if checkpoint.is_dir():
        return _read_shards(checkpoint)
    return _read_file(checkpoint)


def _read_file(path: Path) -> dict[str, torch.Tensor]:
    read_safetensors_header(path)
    try:
        return load_file(path)
    except (SafetensorError, OSError, ValueError) as error:
        raise ExportFailure(
            Reason.CHECKPOINT_CORRUPT, f"{path.name} cannot be read: {error}", _HINT
        ) from error


def _read_shards(directory: Path) -> dict[str, torch.Tensor]:
    indexes = sorted(directory.glob(f"*{INDEX_SUFFIX}"))
    shards = sorted(directory.glob(f"*{SAFETENSORS_SUFFIX}"))
    if len(indexes) > 1:
        names = ", ".join(path.name for path in indexes)
        raise ExportFailure(
            Reason.FORMAT_UNKNOWN,
            f"the directory holds more than one index: {names}",
            "Keep one checkpoint in a directory.",
        )
    if indexes:
        return _read_indexed(directory, indexes[0])
    if len(shards) > 1:
        names = ", ".join(path.name for path in shards[:5])
        raise ExportFailure(
            Reason.FORMAT_UNKNOWN,
            f"the directory holds {len(shards)} safetensors files ({names}) but no "
            f"*{INDEX_SUFFIX} that says which belong together",
            "Add the index that was saved with the shards, or name one file in source.uri.",
        )
    return _read_file(shards[0])


def _read_indexed(directory: Path, index: Path) -> dict[str, torch.Tensor]:
    places = _read_index(index)
    state: dict[str, torch.Tensor] = {}
    for shard in sorted(set(places.values())):
        path = directory / shard
        if path.parent != directory or not path.is_file():
            raise ExportFailure(
                Reason.CHECKPOINT_CORRUPT, f"{index.name} names {shard}, which is missing", _HINT
            )
        tensors = _read_file(path)
        wanted = [key for key, place in places.items() if place == shard]
        absent = [key for key in wanted if key not in tensors]
        if absent:
            raise ExportFailure(
                Reason.CHECKPOINT_CORRUPT,
                f"{index.name} says that {absent[0]} is in {shard}, where it is not",
                _HINT,
            )
        state.update({key: tensors[key] for key in wanted})
    return state


def _read_index(index: Path) -> dict[str, str]:
    try:
        weight_map = json.loads(index.read_bytes())["weight_map"]
        return {str(key): str(place) for key, place in weight_map.items()}
    except (RecursionError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ExportFailure(
            Reason.CHECKPOINT_CORRUPT,
            f"{index.name} is not an index of safetensors shards (no weight_map)",
            _HINT,
        ) from error
