"""Where the state_dict is inside a checkpoint that holds more than weights.

Training loops save dicts of epoch, optimizer and model. This finds the one state_dict without
guessing: by `stateDictKey`, else the checkpoint itself, else the single usual key, at the top or
one level below it. A whole module is found in the same way.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from modelexport_api.reasons import Reason
from modelexport_exporter.core.errors import ExportFailure

USUAL_KEYS = ("state_dict", "model_state_dict", "model", "module")


def find_state_dict(checkpoint: object, key: str | None) -> Mapping[str, Any]:
    """Return the state_dict that the checkpoint is or holds."""
    if key is not None:
        return _at_key(checkpoint, key)
    if _is_state_dict(checkpoint):
        return _as_state_dict(checkpoint)
    candidates = [name for name in USUAL_KEYS if _is_state_dict(_get(checkpoint, name))]
    candidates = [name for name in candidates if _get(checkpoint, name)] or candidates
    if not candidates:
        candidates = _one_level_below(checkpoint)
    if len(candidates) == 1:
        return _at_key(checkpoint, candidates[0])
    if candidates:
        raise ExportFailure(
            Reason.STATE_DICT_MISMATCH,
            f"the checkpoint holds more than one state_dict: {', '.join(candidates)}",
            f"Say which one with source.stateDictKey, for example: {candidates[0]}",
        )
    raise _nothing_found(checkpoint)


def find_module(checkpoint: object, key: str | None) -> torch.nn.Module | None:
    """Return the pickled module that the checkpoint is or holds, None where there is none."""
    if key is not None:
        places: list[object] = [follow(checkpoint, key)]
    else:
        places = [checkpoint, *(_get(checkpoint, name) for name in USUAL_KEYS)]
    return next((place for place in places if isinstance(place, torch.nn.Module)), None)


def _one_level_below(checkpoint: object) -> list[str]:
    """Return the usual keys inside the checkpoint's own dicts, as `state.model`."""
    outer = checkpoint.items() if isinstance(checkpoint, Mapping) else ()
    found = {
        f"{key}.{name}": _get(value, name)
        for key, value in outer
        for name in USUAL_KEYS
        if isinstance(key, str) and not key.startswith("optim")
    }
    return [key for key, value in found.items() if value and _is_state_dict(value)]


def follow(checkpoint: object, key: str) -> object:
    """Follow a dotted key; a key that contains the dots itself wins."""
    found = _get(checkpoint, key)
    if found is None:
        found = checkpoint
        for part in key.split("."):
            found = _get(found, part)
    return found


def _at_key(checkpoint: object, key: str) -> Mapping[str, Any]:
    found = follow(checkpoint, key)
    if not _is_state_dict(found):
        what = "nothing" if found is None else f"a {type(found).__name__}"
        raise ExportFailure(
            Reason.STATE_DICT_MISMATCH,
            f"source.stateDictKey is {key}, where the checkpoint holds {what}; its keys are "
            f"{_keys(checkpoint)}",
            "Set source.stateDictKey to the key of a dict of tensors, with dots between levels.",
        )
    return _as_state_dict(found)


def _is_state_dict(value: object) -> bool:
    """Return whether it is a module, or a dict by name with tensors (extra state may be anything).

    An empty dict is the state_dict of a module without weights; it says nothing about keys.
    """
    if isinstance(value, torch.nn.Module):
        return True
    if isinstance(value, Mapping) and not value:
        return True
    return (
        isinstance(value, Mapping)
        and any(isinstance(item, torch.Tensor) for item in value.values())
        and all(isinstance(name, str) for name in value)
    )


def _as_state_dict(value: object) -> Mapping[str, Any]:
    if isinstance(value, torch.nn.Module):
        state: Mapping[str, Any] = value.state_dict()
        return state
    assert isinstance(value, Mapping)
    return value


def _get(container: object, name: str) -> object:
    if isinstance(container, Mapping):
        return container.get(name)
    return None


def _keys(checkpoint: object) -> str:
    if not isinstance(checkpoint, Mapping):
        return f"none: it is a {type(checkpoint).__name__}"
    names = [str(name) for name in checkpoint]
    return ", ".join(names[:8]) + (", …" if len(names) > 8 else "")  # noqa: PLR2004


def is_without_value(value: object) -> bool:
    """Return whether an entry is a weight of a lazy module, or what stands for one."""
    return type(value).__name__.endswith(("UninitializedParameter", "UninitializedBuffer"))


def without_value(name: str) -> ExportFailure:
    """Return the failure of weights of a lazy module that was never called."""
    return ExportFailure(
        Reason.STATE_DICT_MISMATCH,
        f"{name} has no value: it belongs to a lazy module, such as nn.LazyLinear, that was "
        "never called before the checkpoint was saved",
        "Call the model once before torch.save, or give the module its sizes.",
    )


def _nothing_found(checkpoint: object) -> ExportFailure:
    entries = checkpoint.items() if isinstance(checkpoint, Mapping) else ()
    nested = [str(name) for name, value in entries if value and _is_state_dict(value)]
    lazy = [str(name) for name, value in entries if is_without_value(value)]
    if lazy:
        return without_value(lazy[0])
    advice = f"source.stateDictKey: {nested[0]} would take the one it has. " if nested else ""
    return ExportFailure(
        Reason.STATE_DICT_MISMATCH,
        f"no state_dict found in the checkpoint; its keys are {_keys(checkpoint)}",
        advice + "Save model.state_dict(), or name its key in source.stateDictKey.",
    )
