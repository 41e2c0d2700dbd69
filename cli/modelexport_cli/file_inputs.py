"""The inputs that are found for a model, called and sized as those of a file that exists: pure."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from modelexport_api.resource import ManifestError
from modelexport_api.sizes import DimExpression
from modelexport_exporter.core.inferred import Inferred

Inputs = list[dict[str, Any]]
Dims = dict[str, dict[str, Any]]


@dataclass(frozen=True)
class FileInput:
    """An input of a file."""

    name: str
    shape: tuple[int | None, ...] | None
    """None where the file leaves a size, or the number of dims, open."""


def aligned(inputs: Inputs, files: Sequence[FileInput]) -> tuple[FileInput, ...]:
    """Return the file's inputs in the order of these: by name if all names agree."""
    by_name = {file.name: file for file in files}
    names = [entry["name"] for entry in _tensors(inputs)]
    same = len(names) == len(files) and by_name.keys() == set(names)
    return tuple(by_name[name] for name in names) if same else tuple(files)


def renamed(inputs: Inputs, files: Sequence[FileInput]) -> Inputs:
    """Return the inputs with the file's names. Raises ManifestError if it has more or fewer."""
    entries = copy.deepcopy(inputs)
    tensors = list(_tensors(entries))
    if files and len(tensors) != len(files):
        raise ManifestError(
            f"the file has {len(files)} inputs ({', '.join(file.name for file in files)}), forward "
            f"takes {len(tensors)} ({', '.join(entry['name'] for entry in tensors)})"
        )
    for entry, file in zip(tensors, files, strict=False):
        entry["name"] = file.name
    return entries


def sized(
    inputs: Inputs, dims: Dims, files: Sequence[FileInput], stated: frozenset[str]
) -> tuple[Inputs, Dims, tuple[Inferred, ...]]:
    """Return inputs and dims without the dims that the file fixes, and the sizes that it has.

    `stated`: dims that the user names, which stay.
    """
    fixed = {
        dim: size
        for entry, file in zip(_tensors(inputs), files, strict=False)
        for dim, size in _fixed(entry, file, dims)
        if dim not in stated
    }
    entries, found = copy.deepcopy(inputs), []
    for place, entry in enumerate(entries):
        shape = [_size(axis, fixed) for axis in entry.get("shape", [])]
        if shape != entry.get("shape", []):
            entry["shape"] = shape
            text = ", ".join(map(str, shape))
            found.append(Inferred(field=f"inputs[{place}].shape", value=text, source="the file"))
    left = {name: dim for name, dim in dims.items() if name not in fixed}
    return entries, left, tuple(found)


def _tensors(inputs: Inputs) -> Iterator[dict[str, Any]]:
    return (entry for entry in inputs if entry.get("kind") != "Constant")


def _fixed(entry: Mapping[str, Any], file: FileInput, dims: Dims) -> Iterator[tuple[str, int]]:
    """Yield the dims of an input that have one size in the file, if forward accepts it."""
    shape = entry.get("shape", [])
    if file.shape is None or len(file.shape) != len(shape):
        return
    for axis, size in zip(shape, file.shape, strict=True):
        if size is None or not isinstance(axis, str):
            continue
        dim, found = DimExpression.parse(axis).solved_at(size, {}) or ("", 0)
        limits = dims.get(dim)
        if limits and limits.get("min", 1) <= found <= limits["max"]:
            yield dim, found


def _size(axis: int | str, fixed: Mapping[str, int]) -> int | str:
    if isinstance(axis, int):
        return axis
    left = DimExpression.parse(axis).with_sizes(fixed)
    return left if isinstance(left, int) else str(left)
