"""Directories of torch.distributed.checkpoint, read by one process without a process group.

`.metadata` is a pickle: it is unpickled with nothing allowed but the classes that describe
tensors and their places. Guarantees that only the model's tensors are read (no optimizer), one
at a time, and that nothing outside the directory is opened.
"""

from __future__ import annotations

import io
import mmap
import pickle  # restricted: see _MetadataUnpickler
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch.distributed.checkpoint import metadata as dcp

from modelexport_api.reasons import Reason
from modelexport_exporter.checkpoint.files import METADATA
from modelexport_exporter.checkpoint.nesting import find_state_dict
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.out_of_memory import reraise_out_of_memory
from modelexport_exporter.torch_internals.distributed_metadata import (
    MemoryFormatEncoding,
    StorageInfo,
    layout_by_name,
    layout_global,
)

_HINT = "Upload the checkpoint again, with all of its .distcp files, and compare their sizes."
_PLAIN = {
    ("builtins", "set"): set,
    ("builtins", "frozenset"): frozenset,
    ("__builtin__", "set"): set,
    ("collections", "OrderedDict"): dict,
    ("collections", "defaultdict"): lambda *_: {},
    ("pathlib", "PosixPath"): lambda *parts: "/".join(parts),
    ("pathlib", "PurePosixPath"): lambda *parts: "/".join(parts),
    ("torch", "Size"): torch.Size,
    ("torch", "device"): torch.device,
    layout_global: layout_by_name,
}
_DESCRIPTIONS = (
    dcp.Metadata,
    dcp.TensorStorageMetadata,
    dcp.BytesStorageMetadata,
    dcp.ChunkStorageMetadata,
    dcp.TensorProperties,
    dcp.MetadataIndex,
    dcp.StorageMeta,
    MemoryFormatEncoding,
    StorageInfo,
)


def read_distributed(
    directory: Path, key: str | None, *, allow_pickle: bool
) -> Mapping[str, torch.Tensor]:
    """Return the model's state_dict."""
    metadata = _read_metadata(directory / METADATA, allow_pickle=allow_pickle)
    nested, described = _skeleton(metadata)
    reader = _Chunks(directory, _storage(metadata))
    return {
        name: reader.read(described[id(stand_in)], stand_in)
        for name, stand_in in find_state_dict(nested, key).items()
        if isinstance(stand_in, torch.Tensor)
    }


class _MetadataUnpickler(pickle.Unpickler):
    """Builds descriptions of tensors, and nothing else."""

    def find_class(self, module: str, name: str) -> Any:  # noqa: ANN401
        if (module, name) in _PLAIN:
            return _PLAIN[module, name]
        for known in _DESCRIPTIONS:
            if (module, name) == (known.__module__, known.__qualname__):
                return known
        if module == "torch" and isinstance(
            getattr(torch, name, None), torch.dtype | torch.layout | torch.memory_format
        ):
            return getattr(torch, name)
        raise _RefusedGlobalError(f"{module}.{name}")


class _RefusedGlobalError(Exception):
    pass


def _read_metadata(path: Path, *, allow_pickle: bool) -> dcp.Metadata:
    content = path.read_bytes()
    try:
        load = pickle.loads if allow_pickle else _load_restricted
        metadata = load(content)
    except _RefusedGlobalError as error:
        raise ExportFailure(
            Reason.UNSAFE_CHECKPOINT,
            f"{path.name} is a pickle that would run code when it is loaded: it asks for {error}, "
            "which was refused",
            "Save the model's state_dict again with torch.distributed.checkpoint.save. Only if you "
            "trust the checkpoint as you trust your own code: source.allowPickle: true.",
        ) from error
    except Exception as error:  # damaged bytes can raise any error
        reraise_out_of_memory(error)
        raise _corrupt(f"{path.name} is cut off or damaged: {error}") from error
    if not isinstance(metadata, dcp.Metadata) or not isinstance(metadata.state_dict_metadata, dict):
        raise _corrupt(f"{path.name} holds no description of a checkpoint")
    return metadata


def _load_restricted(content: bytes) -> object:
    return _MetadataUnpickler(io.BytesIO(content)).load()


def _skeleton(metadata: dcp.Metadata) -> tuple[dict[str, Any], dict[int, str]]:
    """Return the dict that was saved, with tensors on meta, and the flat name of each of them."""
    paths = metadata.planner_data if isinstance(metadata.planner_data, dict) else {}
    nested: dict[str, Any] = {}
    described: dict[int, str] = {}
    for name, entry in metadata.state_dict_metadata.items():
        if not isinstance(entry, dcp.TensorStorageMetadata):
            continue
        stand_in = torch.empty(entry.size, dtype=entry.properties.dtype, device="meta")
        described[id(stand_in)] = name
        path = paths.get(name, (name,))
        if not all(isinstance(part, str) for part in path):
            path = (name,)  # inside a list: the state of an optimizer
        place = nested
        for part in path[:-1]:
            place = place.setdefault(part, {})
        place[path[-1]] = stand_in
    return nested, described


@dataclass(frozen=True)
class _Part:
    """A block of a tensor, and the bytes of a file that hold it."""

    offsets: torch.Size
    sizes: torch.Size
    file: str
    begin: int
    length: int


def _storage(metadata: dcp.Metadata) -> dict[str, list[_Part]]:
    """Return the parts of each tensor."""
    places = {
        (index.fqn, tuple(index.offset or ())): info
        for index, info in (metadata.storage_data or {}).items()
    }
    parts: dict[str, list[_Part]] = {}
    for name, entry in metadata.state_dict_metadata.items():
        if not isinstance(entry, dcp.TensorStorageMetadata):
            continue
        for chunk in entry.chunks:
            info = places.get((name, tuple(chunk.offsets)))
            if info is None:
                raise _corrupt(f"{METADATA} does not say where a part of {name} is")
            part = _Part(chunk.offsets, chunk.sizes, info.relative_path, info.offset, info.length)
            parts.setdefault(name, []).append(part)
    return parts


class _Chunks:
    """Reads tensors out of the directory's files, each of them mapped once."""

    def __init__(self, directory: Path, parts: Mapping[str, list[_Part]]) -> None:
        self._directory = directory
        self._parts = parts
        self._files: dict[str, mmap.mmap] = {}

    def read(self, name: str, like: torch.Tensor) -> torch.Tensor:
        """Return the tensor, put together where several files hold it."""
        parts = self._parts.get(name, [])
        if len(parts) == 1 and parts[0].sizes == like.shape:
            return self._load(parts[0], name)
        covered = sum(part.sizes.numel() for part in parts)
        if covered != like.numel():
            raise _corrupt(f"{METADATA} describes {covered} of {name}'s {like.numel()} elements")
        whole = torch.empty(like.shape, dtype=like.dtype)
        for part in parts:
            block = whole
            for dim, (begin, size) in enumerate(zip(part.offsets, part.sizes, strict=True)):
                block = block.narrow(dim, begin, size)
            block.copy_(self._load(part, name))
        return whole

    def _load(self, part: _Part, name: str) -> torch.Tensor:
        view = memoryview(self._open(part.file))
        if part.begin + part.length > len(view):
            raise _corrupt(
                f"{part.file} is cut off: {METADATA} says that {name} is at bytes {part.begin} "
                f"to {part.begin + part.length}, but the file has {len(view)}"
            )
        try:
            tensor = _tensor(view[part.begin : part.begin + part.length])
        except Exception as error:  # damaged bytes can raise any error
            reraise_out_of_memory(error)
            raise _corrupt(f"{name} in {part.file} is damaged: {error}") from error
        if tensor.shape != part.sizes:
            raise _corrupt(
                f"{name} in {part.file} has shape {tuple(tensor.shape)}, {METADATA} says "
                f"{tuple(part.sizes)}"
            )
        return tensor

    def _open(self, name: str) -> mmap.mmap:
        if name not in self._files:
            path = self._directory / name
            if path.parent != self._directory or not path.is_file():
                raise _corrupt(f"{METADATA} names {name}, which is missing in the directory")
            with path.open("rb") as file:
                self._files[name] = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
        return self._files[name]


def _tensor(content: memoryview) -> torch.Tensor:
    """Return the tensor that torch.save, or safetensors, wrote into these bytes."""
    if bytes(content[:2]) == b"PK":
        stored: torch.Tensor = torch.load(
            io.BytesIO(content), map_location="cpu", weights_only=True
        )
        return stored.detach()
    from safetensors.torch import load

    (tensor,) = load(bytes(content)).values()
    return tensor


def _corrupt(what: str) -> ExportFailure:
    return ExportFailure(Reason.CHECKPOINT_CORRUPT, what, _HINT)
