"""Merge partial PodTemplateSpecs: the operator's, the chart's and the user's, in this order.

Follows the strategic merge of `kubectl patch`, so that a template contains only what it changes:

- maps merge by key; null removes a default;
- containers merge by name; env, volumes and volumeMounts are replaced entry by entry (an entry has
  either `value` or `valueFrom`: a merge of both would be invalid);
- tolerations, envFrom and topologySpreadConstraints are appended;
- every other list replaces the default's.

Accelerators are replaced as a group. A template with any extended resource (`amd.com/gpu`,
`nvidia.com/mig-1g.10gb`, also `nvidia.com/gpu: 0`) or a resource claim replaces all accelerators
of the templates below it, while `memory` and `cpu` replace only themselves. So a larger memory
limit keeps the GPU, another vendor's GPU replaces the default's, and 0 means no GPU.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from functools import reduce
from typing import Any

Template = dict[str, Any]

_MERGED_BY = {"containers": "name", "initContainers": "name"}
_REPLACED_BY = {
    "env": "name",
    "volumes": "name",
    "imagePullSecrets": "name",
    "resourceClaims": "name",
    "volumeMounts": "mountPath",
    "volumeDevices": "devicePath",
    "ports": "containerPort",
    "hostAliases": "ip",
}
_APPENDED = {"tolerations", "envFrom", "topologySpreadConstraints"}
_QUANTITIES = ("limits", "requests")


class TemplateError(ValueError):
    """An invalid podTemplate; the message names the field."""


def merge(*templates: Template) -> Template:
    """Merge the templates, each over the ones before it; the arguments are not changed."""
    return reduce(lambda below, over: _merge_maps(below, over, "podTemplate"), templates, {})


def prune(template: Template) -> Template:
    """Return the template for the API server, without nulls and accelerators that are 0."""
    kept: Template = {key: _prune_value(item) for key, item in template.items() if item is not None}
    for kind in _QUANTITIES:
        if isinstance(kept.get(kind), dict):
            kept[kind] = {name: n for name, n in kept[kind].items() if not _is_zero(name, n)}
    return kept


def _prune_value(value: object) -> object:
    if isinstance(value, dict):
        return prune(value)
    return [_prune_value(item) for item in value] if isinstance(value, list) else value


def _merge_maps(below: Template, over: Mapping[str, Any], path: str) -> Template:
    merged = copy.deepcopy(below)
    for key, value in over.items():
        merged[key] = _merge_value(merged.get(key), value, key, f"{path}.{key}")
    return merged


def _merge_value(below: object, over: object, key: str, path: str) -> object:
    _check(below, over, key, path)
    if isinstance(over, dict) and isinstance(below, dict):
        if key == "resources":
            below = _without_replaced_accelerators(below, over)
        return _merge_maps(below, over, path)
    if isinstance(over, list):
        return _merge_lists(below if isinstance(below, list) else [], over, key, path)
    if isinstance(over, dict):
        return _merge_maps({}, over, path)
    return copy.deepcopy(over)


def _check(below: object, over: object, key: str, path: str) -> None:
    """Reject a value of the wrong type, with its path."""
    listed = key in _MERGED_BY or key in _REPLACED_BY or key in _APPENDED
    wanted = list if listed else type(below)
    if over is None or (below is None and not listed) or not issubclass(wanted, list | dict):
        return
    if not isinstance(over, wanted):
        noun = "list" if wanted is list else "mapping"
        raise TemplateError(f"{path} must be a {noun}, found {type(over).__name__}")


def _merge_lists(below: list[Any], over: list[Any], key: str, path: str) -> list[Any]:
    if key in _APPENDED:
        return _distinct([*below, *over])
    by = _MERGED_BY.get(key) or _REPLACED_BY.get(key)
    if by is None:
        return copy.deepcopy(over)
    entries = {_key_of(entry, by, path): copy.deepcopy(entry) for entry in below}
    for entry in over:
        name = _key_of(entry, by, path)
        deep = key in _MERGED_BY
        start = entries.get(name, {}) if deep else {}
        entries[name] = _merge_maps(start, entry, f"{path}[{name}]")
    return list(entries.values())


def _key_of(entry: object, by: str, path: str) -> str | int:
    key = entry.get(by) if isinstance(entry, dict) else None
    if not isinstance(key, str | int):
        found = f"only {', '.join(map(str, entry))}" if isinstance(entry, dict) else "no mapping"
        raise TemplateError(f"{path}: every entry requires `{by}`, found {found}")
    return key


def _distinct(entries: list[Any]) -> list[Any]:
    kept: list[Any] = []
    for entry in entries:
        if entry not in kept:
            kept.append(copy.deepcopy(entry))
    return kept


def _without_replaced_accelerators(below: Template, over: Template) -> Template:
    if not over.get("claims") and not any(
        _extended_resources(over.get(kind)) for kind in _QUANTITIES
    ):
        return below
    kept = {key: value for key, value in below.items() if key != "claims"}
    for kind in _QUANTITIES:
        quantities = kept.get(kind)
        if isinstance(quantities, dict):
            accelerators = _extended_resources(quantities)
            kept[kind] = {name: n for name, n in quantities.items() if name not in accelerators}
    return kept


def _extended_resources(quantities: object) -> set[str]:
    """Return the extended resources: names with a domain (`nvidia.com/gpu`)."""
    if not isinstance(quantities, dict):
        return set()
    return {name for name in quantities if isinstance(name, str) and "/" in name}


def _is_zero(name: object, quantity: object) -> bool:
    return isinstance(name, str) and "/" in name and str(quantity) == "0"
