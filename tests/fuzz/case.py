"""What a random model is: one readable file of Python, its manifest inside."""

from __future__ import annotations

import importlib.util
import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

SIZES = 40
"""Combinations of sizes; all of them are tried where there are no more."""


@dataclass(frozen=True, slots=True)
class FuzzCase:
    """A model's file, and what a user declares of its inputs."""

    seed: int
    source: str
    inputs: tuple[Mapping[str, Any], ...]
    dims: Mapping[str, tuple[int, int]]

    @property
    def text(self) -> str:
        """Return the file, which `read` reads back."""
        manifest = {"seed": self.seed, "inputs": list(self.inputs), "dims": dict(self.dims)}
        return f"{self.source}\n\nMANIFEST = {_literal(manifest)}\n"

    def module(self, path: Path) -> torch.nn.Module:
        """Write the file, import it, and return its model; always with the same weights."""
        path.write_text(self.text)
        torch.manual_seed(self.seed)
        built: torch.nn.Module = import_file(path).build()
        return built


def read(path: Path) -> FuzzCase:
    """Return the case that a file holds: a generated one, or one that a person cut down."""
    text = path.read_text()
    manifest = import_file(path).MANIFEST
    source, _, _ = text.partition("\nMANIFEST = ")
    dims = {name: (low, high) for name, (low, high) in manifest["dims"].items()}
    return FuzzCase(manifest["seed"], source.rstrip(), tuple(manifest["inputs"]), dims)


def import_file(path: Path) -> ModuleType:
    """Import a file under a name that nothing else has."""
    spec = importlib.util.spec_from_file_location(f"fuzzed_{abs(hash(str(path)))}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def sizes_of(dims: Mapping[str, tuple[int, int]], seed: int) -> list[dict[str, int]]:
    """Return sizes to try: all where they are few, else ends, equal sizes, and a random rest."""
    names, ranges = list(dims), [range(low, high + 1) for low, high in dims.values()]
    count = 1
    for one in ranges:
        count *= len(one)
    if count <= SIZES:
        return [dict(zip(names, sizes, strict=True)) for sizes in itertools.product(*ranges)]
    generator = torch.Generator().manual_seed(seed)
    chosen = [*itertools.product(*((one[0], one[-1]) for one in ranges)), *_equal(ranges)]
    while len(chosen) < SIZES:
        picks = (int(torch.randint(len(one), (), generator=generator)) for one in ranges)
        chosen.append(tuple(one[pick] for one, pick in zip(ranges, picks, strict=True)))
    unique = dict.fromkeys(chosen)
    return [dict(zip(names, sizes, strict=True)) for sizes in unique]


def _equal(ranges: Sequence[range]) -> Iterator[tuple[int, ...]]:
    """Yield some sizes at which all dims are equal."""
    low, high = max(one[0] for one in ranges), min(one[-1] for one in ranges)
    for size in {low, (low + high) // 2, high}:
        if len(ranges) > 1 and low <= size <= high:
            yield tuple(size for _ in ranges)


def _literal(manifest: Mapping[str, Any]) -> str:
    text = json.dumps(manifest, indent=4)
    return text.replace("true", "True").replace("false", "False").replace("null", "None")
