"""A state_dict that is spread over files of one directory, which an index names.

Guarantees that a missing shard and an index that disagrees with its shards are CheckpointCorrupt
before any tensor is used, and that nothing outside the directory is read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from modelexport_api.reasons import Reason
from modelexport_exporter.checkpoint import files
from modelexport_exporter.core.errors import ExportFailure

ReadFile = Callable[[Path], Mapping[str, Any]]

_HINT = "Upload the checkpoint again, with all of its shards and their index."


def read_shards(directory: Path, contents: files.Contents, read_file: ReadFile) -> dict[str, Any]:
    """Return the tensors of the one weights file, or of all that the index names."""
    if contents.index is None:
        (name,) = (name for name in contents.files if name != files.CONFIG)
        return dict(read_file(directory / name))
    places = files.weight_map((directory / contents.index).read_bytes(), contents.index)
    state: dict[str, Any] = {}
    for shard in sorted(set(places.values())):
        if not (directory / shard).is_file():
            raise ExportFailure(
                Reason.CHECKPOINT_CORRUPT,
                f"{contents.index} names {shard}, which is missing",
                _HINT,
            )
        tensors = read_file(directory / shard)
        wanted = [key for key, place in places.items() if place == shard]
        absent = [key for key in wanted if key not in tensors]
        if absent:
            raise ExportFailure(
                Reason.CHECKPOINT_CORRUPT,
                f"{contents.index} says that {absent[0]} is in {shard}, where it is not",
                _HINT,
            )
        state.update({key: tensors[key] for key in wanted})
    return state
