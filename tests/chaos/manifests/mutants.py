"""A seed makes one mutant: a valid manifest with one to three mutations. Pure."""

from __future__ import annotations

import json
from dataclasses import dataclass
from random import Random
from typing import Any

import yaml

from chaos.manifests.mutations import KINDS
from chaos.manifests.texts import TEXT_KINDS
from chaos.manifests.trees import Place, put
from chaos.manifests.valid import is_trigger, valid_manifests
from modelexport_api.yaml_text import dump

FAMILIES = {
    "types, nulls and empty values": ("another type", "null", "empty"),
    "numbers": ("a huge number", "not finite", "a fraction", "negative", "min above max"),
    "texts": ("unicode", "text in text", "a long text", "an expression", "a template",
              "another case"),
    "structure": ("deep nesting", "entries repeated", "many entries"),
    "fields unknown, missing or misspelled": (
        "an unknown field", "a missing field", "a misspelled field",
    ),
    "limits of the schema": ("a limit of the schema",),
    "URIs and globs": ("a URI", "a glob"),
    "pod templates": ("a pod template",),
    "metadata": ("metadata",),
    "YAML text": tuple(TEXT_KINDS),
}  # fmt: skip
"""Kinds of mutation by what the page calls them."""
COMBINED = "two or three mutations"
_LARGE = 20_000
_TEXTS = 0.17
"""The share of mutants whose text is changed, too or only."""


@dataclass(frozen=True)
class Mutant:
    """The bytes of a file, and how they were made."""

    seed: int
    base: str
    kinds: tuple[str, ...]
    places: tuple[Place, ...]
    """Of the mutations of the tree."""
    data: bytes
    is_trigger: bool
    """Whether it was one before it was changed."""

    @property
    def family(self) -> str:
        """Return what the page calls it."""
        if len(self.kinds) > 1:
            return COMBINED
        return next(name for name, kinds in FAMILIES.items() if self.kinds[0] in kinds)


def mutant(seed: int) -> Mutant:
    """Return the mutant of a seed."""
    draw = Random(seed)
    base = draw.choice(valid_manifests())
    tree: Any = put(base.document, ("metadata", "name"), f"m-{seed}")
    count = draw.choice([1, 1, 1, 1, 2, 2, 3])
    kinds: list[str] = []
    places: list[Place] = []
    of_text = draw.random() < _TEXTS
    for _ in range(count - of_text):
        if not isinstance(tree, dict):
            break
        # Families are drawn first: one of 10 kinds is as likely as one of a single kind.
        kind = draw.choice(draw.choice([k for k in FAMILIES.values() if k[0] in KINDS]))
        tree, place = KINDS[kind](draw, tree)
        kinds.append(kind)
        places.append(place)
    data = as_text(tree)
    if of_text:
        kind = draw.choice([*TEXT_KINDS])
        data = TEXT_KINDS[kind](draw, data)
        kinds.append(kind)
    return Mutant(seed, base.name, tuple(kinds), tuple(places), data, is_trigger(base.document))


def as_text(tree: object) -> bytes:
    """Return a document as YAML; as JSON what PyYAML cannot write, or not in a second."""
    as_json = json.dumps(tree, indent=1, default=str)
    if len(as_json) > _LARGE:
        return as_json.encode()
    try:
        return dump(tree).encode()
    except (UnicodeEncodeError, yaml.YAMLError, RecursionError):
        return as_json.encode()
