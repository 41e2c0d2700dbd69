"""Mutations of a document's tree, by kind: each changes one place, drawn by a seed. Pure."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from random import Random
from typing import Any

from chaos.manifests import hostile
from chaos.manifests.limits import beyond_limits
from chaos.manifests.trees import Place, Tree, at, mappings, places, put, renamed, without
from unit.operator import pod_standard

Mutated = tuple[Tree, Place]
Mutation = Callable[[Random, Tree], Mutated]
_LENGTHS = (64, 129, 300, 1025, 2049, 5000, 70_000, 300_000)
_DEPTHS = (10, 65, 70, 95, 97, 150, 300)
_MANY = (17, 65, 257, 1001, 5000)


def _anywhere(draw: Random, tree: Tree) -> Place:
    """Return a place; those of the spec are wanted most."""
    found = list(places(tree))
    if not found:
        return ()
    inside = [place for place in found if place[0] == "spec"]
    return draw.choice(inside if inside and draw.random() < 0.85 else found)


def _where(draw: Random, tree: Tree, fits: Callable[[Any], bool]) -> Place:
    found = [place for place in places(tree) if fits(at(tree, place))]
    return draw.choice(found) if found else _anywhere(draw, tree)


def _replaced_by(values: tuple[Any, ...], fits: Callable[[Any], bool] | None = None) -> Mutation:
    def mutate(draw: Random, tree: Tree) -> Mutated:
        place = _where(draw, tree, fits) if fits else _anywhere(draw, tree)
        return put(tree, place, copy.deepcopy(draw.choice(values))), place

    return mutate


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_address(value: object) -> bool:
    return isinstance(value, str) and "://" in value


def _nothing(draw: Random, tree: Tree) -> Mutated:
    place = _anywhere(draw, tree)
    return put(tree, place, None), place


def _in_text(draw: Random, tree: Tree) -> Mutated:
    """A hostile text in the middle of a valid one."""
    place = _where(draw, tree, _is_text)
    text = str(at(tree, place))
    cut = draw.randrange(len(text) + 1)
    extra = draw.choice(draw.choice([*hostile.TEXTS.values()]))
    return put(tree, place, text[:cut] + extra + text[cut:]), place


def _long(draw: Random, tree: Tree) -> Mutated:
    place = _where(draw, tree, _is_text)
    return put(tree, place, str(at(tree, place)) + "x" * draw.choice(_LENGTHS)), place


def _deep(draw: Random, tree: Tree) -> Mutated:
    place = _anywhere(draw, tree)
    value: Any = draw.choice([1, "x", None])
    as_list = draw.random() < 0.5
    for _ in range(draw.choice(_DEPTHS)):
        value = [value] if as_list else {"a": value}
    return put(tree, place, value), place


def _unknown(draw: Random, tree: Tree) -> Mutated:
    place = (*draw.choice(mappings(tree)), draw.choice(hostile.KEYS))
    return put(tree, place, copy.deepcopy(draw.choice(hostile.TYPES))), place


def _missing(draw: Random, tree: Tree) -> Mutated:
    place = _anywhere(draw, tree)
    return (without(tree, place), place) if place else ({}, place)


def _misspelled(draw: Random, tree: Tree) -> Mutated:
    found = [place for place in places(tree) if isinstance(place[-1], str) and place[-1]]
    if not found:
        return _unknown(draw, tree)
    place = draw.choice(found)
    key = str(place[-1])
    cut = draw.randrange(len(key))
    spelled = draw.choice(
        [
            key[:cut] + key[cut + 1 :],
            key[:cut] + key[cut] + key[cut:],
            key.upper(),
            key.capitalize(),
            "".join(f"_{c.lower()}" if c.isupper() else c for c in key),
            f"{key}s",
            f" {key}",
        ]
    )
    if spelled == key or spelled in at(tree, place[:-1]):
        spelled = f"{key}_"
    return renamed(tree, place, spelled), (*place[:-1], spelled)


def _case(draw: Random, tree: Tree) -> Mutated:
    place = _where(draw, tree, lambda v: isinstance(v, str) and v.isalpha())
    text = str(at(tree, place))
    return put(
        tree, place, draw.choice([text.lower(), text.upper(), text.swapcase(), text + " "])
    ), place


def _negative(draw: Random, tree: Tree) -> Mutated:
    place = _where(draw, tree, _is_number)
    value = at(tree, place)
    return put(tree, place, -value - 1 if _is_number(value) else -1), place


def _swapped(draw: Random, tree: Tree) -> Mutated:
    """A min above its max, in dims or in a range."""
    if draw.random() < 0.5:
        place: Place = ("spec", "dims", draw.choice(["batch", "n", "seq"]))
        return put(
            tree, place, {"min": draw.choice([2, 9, 2**31]), "max": draw.choice([1, 0])}
        ), place
    place = ("spec", "inputs", 0, "range")
    return put(tree, place, draw.choice([[9, 1], [1e308, -1e308], [1, 0.5], [0, 0]])), place


def _repeated(draw: Random, tree: Tree) -> Mutated:
    place = _where(draw, tree, lambda v: isinstance(v, list) and bool(v))
    value = at(tree, place)
    if not isinstance(value, list) or not value:
        return put(tree, place, [value, copy.deepcopy(value)]), place
    times = draw.choice([2, 2, 2, *_MANY])
    return put(tree, place, [*value, *(copy.deepcopy(value[0]) for _ in range(times))]), place


def _many(draw: Random, tree: Tree) -> Mutated:
    place = _where(draw, tree, lambda v: isinstance(v, dict | list))
    value, count = at(tree, place), draw.choice(_MANY)
    if isinstance(value, list):
        kept: Any = [*value, *(f"x{number}" for number in range(count))]
    else:
        kept = {**(value if isinstance(value, dict) else {}), **{f"x{n}": n for n in range(count)}}
    return put(tree, place, kept), place


def _metadata(draw: Random, tree: Tree) -> Mutated:
    key, value = draw.choice(
        [
            ("annotations", {"note": "x" * draw.choice([1000, 262_000, 1_000_000])}),
            ("annotations", {"note": draw.choice(hostile.TYPES)}),
            ("annotations", {draw.choice(hostile.UNICODE): "x"}),
            ("labels", {draw.choice(hostile.KEYS): draw.choice(hostile.UNICODE)}),
            ("labels", {"kueue.x-k8s.io/queue-name": draw.choice(hostile.TEMPLATES)}),
            ("labels", {f"x{n}": "y" for n in range(2000)}),
            ("labels", draw.choice(hostile.TYPES)),
            (
                "name",
                draw.choice((*hostile.UNICODE, *hostile.TEMPLATES, "A", "a_b", "a" * 254, "-a")),
            ),
            ("ownerReferences", draw.choice(hostile.TYPES)),
            ("finalizers", draw.choice(hostile.TYPES)),
            ("generateName", draw.choice(hostile.TYPES)),
            ("generation", draw.choice(hostile.TYPES)),
            ("creationTimestamp", draw.choice(hostile.TYPES)),
            ("managedFields", draw.choice(hostile.TYPES)),
        ]
    )
    return put(tree, ("metadata", key), copy.deepcopy(value)), ("metadata", key)


def _pod(draw: Random, tree: Tree) -> Mutated:
    rows = (*pod_standard.REFUSED_BY_BOTH, *pod_standard.REFUSED_BY_US)
    template = copy.deepcopy(
        draw.choice([*(row[1] for row in rows), *hostile.POD_TEMPLATES, *hostile.POD_TEMPLATES])
    )
    if draw.random() < 0.4:
        place = draw.choice([*places(template)])
        template = put(template, place, copy.deepcopy(draw.choice(hostile.TYPES)))
    place = ("spec", "podTemplate")
    if tree.get("kind") == "ModelExportTrigger":
        place = ("spec", "template", "spec", "podTemplate")
    return put(tree, place, template), place


KINDS: Mapping[str, Mutation] = {
    "another type": _replaced_by(hostile.TYPES),
    "null": _nothing,
    "empty": _replaced_by(hostile.EMPTY),
    "a huge number": _replaced_by(hostile.NUMBERS, _is_number),
    "not finite": _replaced_by(hostile.NOT_FINITE, _is_number),
    "a fraction": _replaced_by(hostile.FRACTIONS, _is_number),
    "negative": _negative,
    "min above max": _swapped,
    "unicode": _replaced_by(hostile.UNICODE, _is_text),
    "text in text": _in_text,
    "a long text": _long,
    "deep nesting": _deep,
    "entries repeated": _repeated,
    "many entries": _many,
    "an unknown field": _unknown,
    "a missing field": _missing,
    "a misspelled field": _misspelled,
    "another case": _case,
    "a limit of the schema": beyond_limits,
    "an expression": _replaced_by(hostile.EXPRESSIONS, _is_text),
    "a template": _replaced_by(hostile.TEMPLATES, _is_text),
    "a URI": _replaced_by(hostile.URIS, _is_address),
    "a glob": _replaced_by(hostile.GLOBS, _is_address),
    "a pod template": _pod,
    "metadata": _metadata,
}
