"""The weights of a checkpoint of any format, as one state_dict; or the module that was pickled.

Guarantees that stand-ins for the checkpoint's own classes are never taken for weights: a
checkpoint that needs them is UnsafeCheckpoint.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from modelexport_api.reasons import Reason
from modelexport_api.spec import Format, ModelExportSpec
from modelexport_exporter.checkpoint.formats import detect, directory_contents
from modelexport_exporter.checkpoint.inert_objects import Inert, class_name
from modelexport_exporter.checkpoint.layout import Detected, Layout
from modelexport_exporter.checkpoint.nesting import (
    USUAL_KEYS,
    find_module,
    find_state_dict,
    follow,
    is_without_value,
    without_value,
)
from modelexport_exporter.checkpoint.safetensors_files import read_safetensors
from modelexport_exporter.checkpoint.shards import read_shards
from modelexport_exporter.checkpoint.torch_save import read_pickled, unsafe_object
from modelexport_exporter.core.errors import ExportFailure

_FLAT = (Layout.SAFETENSORS, Layout.SHARDS, Layout.PICKLED_SHARDS)
_LIGHTNING_KEY = "state_dict"


def read_state(checkpoint: Path, detected: Detected, spec: ModelExportSpec) -> Mapping[str, Any]:
    """Return the state_dict that the checkpoint is, or holds under the spec's key."""
    key, allow_pickle = spec.source.state_dict_key, spec.source.allow_pickle
    if detected.layout in _FLAT and key is not None:
        raise ExportFailure(
            Reason.STATE_DICT_MISMATCH,
            f"source.stateDictKey is {key}, but a {detected} holds one flat state_dict",
            "Remove source.stateDictKey.",
        )
    if detected.layout is Layout.SAFETENSORS:
        return read_safetensors(checkpoint)
    if detected.layout in _FLAT:
        contents = directory_contents(checkpoint, spec.source.format)
        return read_shards(checkpoint, contents, lambda path: _read_shard(path, spec))
    if detected.layout is Layout.DISTRIBUTED:
        from modelexport_exporter.checkpoint.distributed import read_distributed

        return read_distributed(checkpoint, key, allow_pickle=allow_pickle)
    _refuse_object(checkpoint, detected, spec)
    stored = read_pickled(checkpoint, detected.layout, allow_pickle=allow_pickle)
    if detected.format is Format.LIGHTNING and key is None:
        key = _LIGHTNING_KEY
    return _only_weights(checkpoint, stored, key)


def read_module(
    checkpoint: Path, detected: Detected, spec: ModelExportSpec
) -> torch.nn.Module | None:
    """Return the module that was pickled; None for weights, which need a factory."""
    _refuse_object(checkpoint, detected, spec)
    if not spec.source.allow_pickle:
        return None
    stored = read_pickled(checkpoint, detected.layout, allow_pickle=True)
    found = find_module(stored, spec.source.state_dict_key)
    if found is None and Format.MODULE in {detected.format, spec.source.format}:
        raise ExportFailure(
            Reason.FORMAT_UNKNOWN,
            f"{checkpoint.name} holds no pickled torch.nn.Module: it is a {type(stored).__name__}",
            "Save it with torch.save(model, path), name the key of the module in "
            "source.stateDictKey, or name model.factory for a checkpoint of weights.",
        )
    return found


def _read_shard(path: Path, spec: ModelExportSpec) -> Mapping[str, Any]:
    detected = detect(path)
    if detected.layout is Layout.SAFETENSORS:
        return read_safetensors(path)
    _refuse_object(path, detected, spec)
    stored = read_pickled(path, detected.layout, allow_pickle=spec.source.allow_pickle)
    return _only_weights(path, stored, None)


def _refuse_object(checkpoint: Path, detected: Detected, spec: ModelExportSpec) -> None:
    if detected.pickled_class and not spec.source.allow_pickle:
        raise unsafe_object(checkpoint, detected.pickled_class)


def _only_weights(checkpoint: Path, stored: object, key: str | None) -> Mapping[str, Any]:
    try:
        state = find_state_dict(stored, key)
    except ExportFailure as failure:
        places = (
            [follow(stored, key)] if key else [stored, *(follow(stored, k) for k in USUAL_KEYS)]
        )
        inert = next((place for place in places if isinstance(place, Inert)), None)
        if inert is None:
            raise
        raise unsafe_object(checkpoint, class_name(inert)) from failure
    for name, value in state.items():
        if is_without_value(value):
            raise without_value(name)
        if isinstance(value, Inert):
            raise unsafe_object(checkpoint, f"{class_name(value)} (at {name})")
    return state
