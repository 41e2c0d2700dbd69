"""Which files of a source directory make up the checkpoint: pure, over names and an index.

A training run's directory holds optimizer states, old formats and logs beside the weights; only
what safetensors' own index names is fetched.
"""

from __future__ import annotations

import json

from modelexport_api.reasons import Reason
from modelexport_exporter.failure import ExportFailure

INDEX_SUFFIX = ".safetensors.index.json"
_SHARD_SUFFIX = ".safetensors"
_USUAL_INDEX = f"model{INDEX_SUFFIX}"
_SHOWN = 8


def find_index(names: list[str], uri: str) -> str | None:
    """Return the name of the directory's index, None where one file holds everything."""
    found = [name for name in names if name.endswith(INDEX_SUFFIX)]
    if _USUAL_INDEX in found:
        return _USUAL_INDEX
    if len(found) > 1:
        raise ExportFailure(
            Reason.FORMAT_UNKNOWN,
            f"{uri} holds {len(found)} indexes of safetensors: {_some(found)}",
            "Keep one checkpoint in a directory.",
        )
    return found[0] if found else None


def only_file(names: list[str], uri: str) -> str:
    """Return the one safetensors file of a directory without an index."""
    found = [name for name in names if name.endswith(_SHARD_SUFFIX)]
    if len(found) == 1:
        return found[0]
    if found:
        raise ExportFailure(
            Reason.FORMAT_UNKNOWN,
            f"{uri} holds {len(found)} safetensors files and no index: {_some(found)}",
            f"Add *{INDEX_SUFFIX}, or name one file in spec.source.uri.",
        )
    raise ExportFailure(
        Reason.SOURCE_NOT_FOUND,
        f"{uri} holds no safetensors; {describe_names(names)}",
        "A directory is read as safetensors shards. Name a file for every other format.",
    )


def shards(index: bytes, uri: str) -> list[str]:
    """Return the names of the files that an index speaks of, in order."""
    try:
        weight_map = json.loads(index)["weight_map"]
        found = sorted(set(weight_map.values()))
    except (RecursionError, ValueError, KeyError, TypeError, AttributeError):
        found = []
    if not found or not all(_is_shard(name) for name in found):
        raise ExportFailure(
            Reason.CHECKPOINT_CORRUPT,
            f"{uri} is no index of safetensors: weight_map must name the file of each tensor",
            "Save the checkpoint again.",
        )
    return found


def describe_names(names: list[str]) -> str:
    """Say what is there instead."""
    return f"it has {_some(names)}" if names else "it is empty or does not exist"


def _is_shard(name: object) -> bool:
    return isinstance(name, str) and name.endswith(_SHARD_SUFFIX) and "/" not in name


def _some(names: list[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
