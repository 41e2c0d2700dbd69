"""Which files of a source directory make up the checkpoint: pure, over names and an index.

A training run's directory holds optimizer states, old formats and logs next to the weights; only
what the checkpoint's own index names is fetched. What the names say is also what the directory is
taken for when it is loaded.
"""

from __future__ import annotations

from dataclasses import dataclass

from modelexport_api.reasons import Reason
from modelexport_api.spec import Format
from modelexport_exporter.checkpoint.layout import Layout
from modelexport_exporter.core.bounded_json import BoundedJsonError, read_json
from modelexport_exporter.core.errors import ExportFailure

INDEX_SUFFIX = ".safetensors.index.json"
PICKLED_INDEX_SUFFIX = ".bin.index.json"
CONFIG = "config.json"
METADATA = ".metadata"
_DISTRIBUTED_SUFFIX = ".distcp"
_SHARD_SUFFIX = ".safetensors"
_SHARD_SUFFIXES = (_SHARD_SUFFIX, ".bin")
_USUAL_INDEX = f"model{INDEX_SUFFIX}"
_HUGGING_FACE_WEIGHTS = (
    "model.safetensors",
    _USUAL_INDEX,
    "pytorch_model.bin",
    f"pytorch_model{PICKLED_INDEX_SUFFIX}",
)
"""In the order in which transformers looks for them."""
_SHOWN = 8


@dataclass(frozen=True)
class Contents:
    """What a directory holds: its format, and the names that have to be there to load it."""

    format: Format
    layout: Layout
    files: tuple[str, ...]
    index: str | None = None
    """A file that names more files: the shards."""


def choose(names: list[str], declared: Format, uri: str) -> Contents:
    """Return which files make up the checkpoint that the spec declares, or that is there."""
    anything = declared is Format.AUTO
    if METADATA in names and (anything or declared is Format.DISTRIBUTED_CHECKPOINT):
        return _distributed(names)
    if declared is Format.DISTRIBUTED_CHECKPOINT:
        raise _lacks(METADATA, "a DistributedCheckpoint", names, uri)
    if declared is Format.HUGGING_FACE or (anything and CONFIG in names):
        found = _hugging_face(names)
        if found is not None:
            return found
        if CONFIG not in names:
            raise _lacks(CONFIG, "a Hugging Face model", names, uri)
        if declared is Format.HUGGING_FACE:
            raise _lacks(" or ".join(_HUGGING_FACE_WEIGHTS), "a Hugging Face model", names, uri)
    if declared in {Format.AUTO, Format.STATE_DICT}:
        pickled = _only([name for name in names if name.endswith(PICKLED_INDEX_SUFFIX)], uri)
        if pickled is not None and not any(name.endswith(_SHARD_SUFFIX) for name in names):
            return Contents(Format.STATE_DICT, Layout.PICKLED_SHARDS, (pickled,), pickled)
    index = find_index(names, uri)
    files = (index or only_file(names, uri),)
    return Contents(Format.SAFETENSORS, Layout.SHARDS, files, index)


def _distributed(names: list[str]) -> Contents:
    parts = [name for name in names if name.endswith(_DISTRIBUTED_SUFFIX)]
    return Contents(Format.DISTRIBUTED_CHECKPOINT, Layout.DISTRIBUTED, (METADATA, *parts))


def _hugging_face(names: list[str]) -> Contents | None:
    weights = next((name for name in _HUGGING_FACE_WEIGHTS if name in names), None)
    if weights is None or CONFIG not in names:
        return None
    layout = Layout.SHARDS if _SHARD_SUFFIX in weights else Layout.PICKLED_SHARDS
    index = weights if weights.endswith(".json") else None
    return Contents(Format.HUGGING_FACE, layout, (CONFIG, weights), index)


def _lacks(what: str, kind: str, names: list[str], uri: str) -> ExportFailure:
    return ExportFailure(
        Reason.SOURCE_NOT_FOUND,
        f"{uri} holds no {what}, which {kind} needs; {describe_names(names)}",
        "Save the model again (save_pretrained, torch.distributed.checkpoint.save), name the "
        "directory that it was saved to, or leave source.format out.",
    )


def find_index(names: list[str], uri: str) -> str | None:
    """Return the name of the directory's index, None where one file holds everything."""
    found = [name for name in names if name.endswith(INDEX_SUFFIX)]
    return _USUAL_INDEX if _USUAL_INDEX in found else _only(found, uri)


def _only(indexes: list[str], uri: str) -> str | None:
    if len(indexes) > 1:
        raise ExportFailure(
            Reason.FORMAT_UNKNOWN,
            f"{uri} holds {len(indexes)} indexes of shards, more than one: {_some(indexes)}",
            "Keep one checkpoint in a directory.",
        )
    return indexes[0] if indexes else None


def only_file(names: list[str], uri: str) -> str:
    """Return the one safetensors file of a directory without an index."""
    found = [name for name in names if name.endswith(_SHARD_SUFFIX)]
    if len(found) == 1:
        return found[0]
    if found:
        raise ExportFailure(
            Reason.FORMAT_UNKNOWN,
            f"{uri} holds {len(found)} safetensors files ({_some(found)}) but no *{INDEX_SUFFIX}",
            f"Add the *{INDEX_SUFFIX} that lists the file of each tensor, or name one file in "
            "spec.source.uri.",
        )
    raise ExportFailure(
        Reason.SOURCE_NOT_FOUND,
        f"{uri} holds no checkpoint that is a directory; {describe_names(names)}",
        "A directory is read as safetensors shards, as a Hugging Face model (config.json) or as a "
        "DistributedCheckpoint (.metadata). Name the file itself for every other format.",
    )


def shards(index: bytes, uri: str) -> list[str]:
    """Return the names of the files in an index, in order."""
    return sorted(set(weight_map(index, uri).values()))


def weight_map(index: bytes, uri: str) -> dict[str, str]:
    """Return the file of each tensor, every one of them in the directory of the index."""
    try:
        places = read_json(index)["weight_map"]
        found = {str(key): place for key, place in places.items()}
    except BoundedJsonError as error:
        raise ExportFailure(
            Reason.CHECKPOINT_CORRUPT,
            f"{uri} is not an index of shards: {error}",
            "Save the checkpoint again.",
        ) from None
    except (KeyError, TypeError, AttributeError):
        found = {}
    if not found or not all(_is_shard(place) for place in found.values()):
        raise ExportFailure(
            Reason.CHECKPOINT_CORRUPT,
            f"{uri} is not an index of shards: weight_map must name, for each tensor, a file "
            "next to the index",
            "Save the checkpoint again.",
        )
    return found


def describe_names(names: list[str]) -> str:
    """Say what is there instead."""
    return f"it has {_some(names)}" if names else "it is empty or does not exist"


def _is_shard(name: object) -> bool:
    return (
        isinstance(name, str)
        and name.endswith(_SHARD_SUFFIXES)
        and "/" not in name
        and "\\" not in name
    )


def _some(names: list[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
