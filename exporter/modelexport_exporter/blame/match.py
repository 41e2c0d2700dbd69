"""Matches the file's values with eager's, and selects the suspected ones: pure.

A value that matches one of eager's is correct. One without a match may be correct too, because
optimizers fuse ops and exporters write one op as several nodes: it is harmless if a value computed
from it matches again. The others between matching values and a wrong output are suspected, on both
sides. The order of elements counts: a transposed array is different.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

import numpy as np

from modelexport_exporter.blame.fingerprint import Fingerprint, distance
from modelexport_exporter.blame.trace import Step, Trace

SHAPES_ONLY = frozenset(
    {
        *("Shape", "Size", "new_zeros", "new_ones", "new_full", "new_empty"),
        *("zeros_like", "ones_like", "full_like", "empty_like"),
    }
)
"""Operators that read the size of a value, and not its elements."""
MOVES = frozenset(
    {
        *("Identity", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Transpose", "Cast", "Expand"),
        *("view", "_unsafe_view", "reshape", "permute", "transpose", "t", "expand", "unsqueeze"),
        *("squeeze", "clone", "detach", "alias", "to", "_to_copy", "contiguous", "copy_"),
        *("lift_fresh", "flatten", "unflatten", "movedim", "as_strided", "unfold"),
    }
)
"""Operators that move elements without computing; ATen ops without namespace and overload."""
PARTS = frozenset(
    {
        *("Slice", "Gather", "GatherND", "GatherElements", "Split", "Compress", "TopK"),
        *("slice", "select", "split", "unsafe_split", "unbind", "split_with_sizes", "chunk"),
        *("index", "index_select", "gather", "narrow", "topk"),
    }
)
"""Operators that return a part of their input."""


def matches(file: Trace, eager: Trace, tolerance: float) -> dict[int, tuple[int, float]]:
    """Return, for each value of the file with a match, eager's value and the relative error.

    The output of a step that changes nothing matches only the output of such a step in eager: an
    addition of zeros instead of a bias returns the value before the bias.
    """
    inner = {value for step in eager.steps if step.inner for value in step.outputs}
    whole = {value: item for value, item in eager.prints.items() if value not in inner}
    candidates = _by_size({**eager.given, **whole})
    parts = _by_size({value: eager.prints[value] for value in inner if value in eager.prints})
    in_eager = _by_size({value: eager.prints[value] for value in _unchanged(eager, tolerance)})
    unchanged = _unchanged(file, tolerance)
    found: dict[int, tuple[int, float]] = {}
    for value, print_ in {**file.given, **file.prints}.items():
        for groups in (in_eager,) if value in unchanged else (candidates, parts):
            best = _closest(print_, groups.get(_key(print_), _NONE))
            if best is not None and best[1] <= (tolerance if print_.is_float else 0.0):
                found[value] = best
                break
    return found


def moves(step: Step) -> bool:
    """Return whether a step moves elements without computing."""
    return _plain(step.op) in MOVES


def _is_part(step: Step) -> bool:
    return _plain(step.op) in PARTS


def _plain(op: str) -> str:
    """Return `transpose` for aten.transpose.int; operators of ONNX as they are."""
    return op.split(".")[1] if op.startswith(("aten.", "prims.")) else op


def _unchanged(trace: Trace, tolerance: float) -> set[int]:
    """Return the outputs of computing steps that equal one of their inputs."""
    inner = {value for step in trace.steps if step.inner for value in step.outputs}
    prints = {
        value: item for value, item in {**trace.given, **trace.prints}.items() if value not in inner
    }
    return {
        value
        for step in trace.steps
        if not moves(step)
        for value in step.outputs
        if value in prints
        and any(
            source in prints and distance(prints[value], prints[source]) <= tolerance
            for source in step.inputs
        )
    }


class _Group:
    """Fingerprints of one size, stacked, so that one comparison covers all of them."""

    def __init__(self) -> None:
        self.numbers: list[int] = []
        self.prints: list[Fingerprint] = []
        self._places: np.ndarray | None = None

    def add(self, number: int, print_: Fingerprint) -> None:
        self.numbers.append(number)
        self.prints.append(print_)

    @property
    def places(self) -> np.ndarray:
        if self._places is None:
            self._places = np.nan_to_num(np.stack([item.places for item in self.prints]))
        return self._places


_NONE = _Group()


def _key(print_: Fingerprint) -> tuple[int, bool]:
    return print_.size, print_.dtype == "bool"


def _by_size(prints: Mapping[int, Fingerprint]) -> dict[tuple[int, bool], _Group]:
    groups: dict[tuple[int, bool], _Group] = {}
    for number, print_ in prints.items():
        groups.setdefault(_key(print_), _Group()).add(number, print_)
    return groups


def _closest(print_: Fingerprint, group: _Group) -> tuple[int, float] | None:
    if not group.numbers:
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        errors = np.abs(group.places - np.nan_to_num(print_.places)).max(axis=1, initial=0.0)
    best: tuple[int, float] | None = None
    for at in np.argsort(errors, kind="stable")[:8]:
        error = distance(print_, group.prints[at])
        if not math.isinf(error) and (best is None or error < best[1]):
            best = group.numbers[at], error
    return best


def suspects(
    trace: Trace, right: Collection[int], wrong_outputs: Collection[int], *, strict: bool = False
) -> set[int]:
    """Return the values that a wrong output depends on and that are not known to be harmless.

    `right`: values with a match. `strict`: the inputs of a matching value are not harmless; the
    square of a value is correct when its sign is wrong. Shape arithmetic is never suspected: errors
    show in the values that use it.
    """
    known = {*right, *trace.given} if strict else _harmless(trace, right)
    harmless = known - set(wrong_outputs)
    arithmetic = shape_arithmetic(trace)
    involved = trace.leading_to(wrong_outputs)
    return {
        value
        for step in trace.steps
        for value in step.outputs
        if value in involved and value not in harmless and value not in arithmetic
    }


def _harmless(trace: Trace, right: Collection[int]) -> set[int]:
    """Return the matching values, and those that distinctive matching values are computed from.

    A value of which only parts are read is harmless if the matching parts cover it.
    """
    harmless = {value for value in right if _is_distinctive(trace, value)}
    covered: dict[int, int] = {}
    for step in reversed(trace.steps):
        sizes = [trace.prints[value].size for value in step.outputs if value in trace.prints]
        for value in step.inputs:
            if harmless.isdisjoint(step.outputs) or _plain(step.op) in SHAPES_ONLY:
                continue
            if not _is_part(step) or value not in trace.prints:
                harmless.add(value)
                continue
            covered[value] = covered.get(value, 0) + sum(sizes)
            if covered[value] >= trace.prints[value].size:
                harmless.add(value)
    return {*right, *trace.given, *harmless}


def _is_distinctive(trace: Trace, value: int) -> bool:
    print_ = trace.prints.get(value)
    return print_ is not None and print_.is_distinctive


def shape_arithmetic(trace: Trace) -> set[int]:
    """Return the values that depend on sizes and constants alone."""
    found: set[int] = set()
    for step in trace.steps:
        if _plain(step.op) in SHAPES_ONLY or all(value in found for value in step.inputs):
            found.update(step.outputs)
    return found


def rank(trace: Trace, suspected: Collection[int]) -> dict[int, int]:
    """Return the suspected values, those with the fewest suspected steps behind them first.

    With each, the number of these steps, its own included.
    """
    suspected = set(suspected)
    behind: dict[int, frozenset[int]] = {}
    counts: dict[int, int] = {}
    for at, step in enumerate(trace.steps):
        if not suspected.intersection(step.outputs):
            continue
        steps = frozenset({at}).union(*(behind.get(value, frozenset()) for value in step.inputs))
        for value in suspected.intersection(step.outputs):
            behind[value] = steps
            counts[value] = len(steps)
    return dict(sorted(counts.items(), key=lambda item: item[1]))


def region(trace: Trace, suspected: Collection[int], value: int) -> list[int]:
    """Return the suspected steps that a value depends on, in order, its own last."""
    suspected = set(suspected)
    producers = trace.producers()
    found: set[int] = set()
    waiting = [value]
    while waiting:
        at = producers.get(waiting.pop())
        if at is None or at in found or not suspected.intersection(trace.steps[at].outputs):
            continue
        found.add(at)
        waiting.extend(entry for entry in trace.steps[at].inputs if entry in suspected)
    return sorted(found)
