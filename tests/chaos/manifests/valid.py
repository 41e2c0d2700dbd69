"""Every valid manifest of the repository: of examples, pages and tests."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from documentation.blocks import blocks
from modelexport_api import API_VERSION, KIND
from modelexport_api.trigger import TRIGGER_KIND
from unit.api import manifests, strict_manifests, trigger_manifests
from unit.operator import objects, pod_standard

ROOT = Path(__file__).parents[3]
Document = dict[str, Any]


@dataclass(frozen=True)
class Valid:
    """A manifest, and where it is from."""

    name: str
    document: Document


@lru_cache(1)
def valid_manifests() -> tuple[Valid, ...]:
    """Return all of them, each once."""
    found: dict[str, Valid] = {}
    for one in (*_of_examples(), *_of_pages(), *_of_tests()):
        document = copy.deepcopy(one.document)
        document["metadata"] = {**document.get("metadata", {}), "name": "any"}
        document["metadata"].pop("generateName", None)
        document["metadata"].pop("namespace", None)
        found.setdefault(
            json.dumps(document, sort_keys=True, default=str), Valid(one.name, document)
        )
    return tuple(found.values())


def _of_examples() -> Iterator[Valid]:
    for path in sorted((ROOT / "examples").rglob("*.yaml")):
        yield from _ours(str(path.relative_to(ROOT)), path.read_text())


def _of_pages() -> Iterator[Valid]:
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))):
        for block in blocks(page.read_text()):
            if block.language == "yaml":
                yield from _ours(f"{page.relative_to(ROOT)}:{block.line}", block.text)


def _ours(name: str, text: str) -> Iterator[Valid]:
    for document in yaml.safe_load_all(text):
        if isinstance(document, dict) and document.get("apiVersion") == API_VERSION:
            yield Valid(name, document)


def _of_tests() -> Iterator[Valid]:
    rows = [("VALID", manifests.VALID), *manifests.ACCEPTED, *strict_manifests.ACCEPTED]
    for name, document in (*rows, *trigger_manifests.VALID):
        yield Valid(f"tests/unit/api: {name}", document)
    identity = {"apiVersion": API_VERSION, "kind": KIND}
    for name, template in pod_standard.ACCEPTED:
        spec = {**objects.SPEC, "podTemplate": template}
        yield Valid(f"tests/unit/operator: {name}", {**identity, "spec": spec})


def is_trigger(document: object) -> bool:
    """Return whether a document is of the trigger's kind."""
    return isinstance(document, dict) and document.get("kind") == TRIGGER_KIND
