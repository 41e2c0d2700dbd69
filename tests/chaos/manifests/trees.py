"""Documents as trees: their places, and copies with one place changed. Pure."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from typing import Any

Place = tuple[str | int, ...]
Tree = Any


def places(tree: Tree, below: Place = ()) -> Iterator[Place]:
    """Yield every place but the root, parents first."""
    for key, child in _entries(tree):
        yield (*below, key)
        yield from places(child, (*below, key))


def _entries(tree: Tree) -> Iterable[tuple[str | int, Tree]]:
    if isinstance(tree, dict):
        return tree.items()
    return enumerate(tree) if isinstance(tree, list) else ()


def mappings(tree: Tree) -> list[Place]:
    """Return the places of all mappings, the root's too."""
    return [(), *(place for place in places(tree) if isinstance(at(tree, place), dict))]


def at(tree: Tree, place: Place) -> Tree:
    """Return what is at a place."""
    for key in place:
        tree = tree[key]
    return tree


def put(tree: Tree, place: Place, value: object) -> Tree:
    """Return the tree with another value at a place; mappings that lack are made."""
    if not place:
        return value
    key, rest = place[0], place[1:]
    if isinstance(tree, list) and isinstance(key, int) and key < len(tree):
        return [put(old, rest, value) if at == key else old for at, old in enumerate(tree)]
    found = tree if isinstance(tree, dict) else {}
    return {**found, key: put(found.get(key), rest, value)}


def without(tree: Tree, place: Place) -> Tree:
    """Return the tree without a place."""
    changed = copy.deepcopy(tree)
    del at(changed, place[:-1])[place[-1]]
    return changed


def renamed(tree: Tree, place: Place, key: str) -> Tree:
    """Return the tree with another key for a place of a mapping."""
    changed = copy.deepcopy(tree)
    parent = at(changed, place[:-1])
    entries = [(key if old == place[-1] else old, value) for old, value in parent.items()]
    parent.clear()
    parent.update(entries)
    return changed
