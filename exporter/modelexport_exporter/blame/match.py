"""Which values of a file agree with eager's, and which of the others are to be suspected: pure.

A value that agrees with one of eager's is right. One that agrees with none need not be wrong:
optimizers fuse, exporters write one op as several nodes. It is harmless if something that is
computed from it agrees again. What is left, between right values and a wrong output, is suspected,
on both sides alike. The order of elements counts: a transposed value is another value.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

import numpy as np

from modelexport_exporter.blame.fingerprint import Fingerprint, distance
from modelexport_exporter.blame.trace import Step, Trace

SHAPES_ONLY = frozenset({"Shape", "Size"})
MOVES = frozenset(
    {
        *("Identity", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Transpose", "Cast", "Expand"),
        *("view", "_unsafe_view", "reshape", "permute", "transpose", "t", "expand", "unsqueeze"),
        *("squeeze", "clone", "detach", "alias", "to", "_to_copy", "contiguous", "copy_"),
        *("lift_fresh", "flatten", "unflatten", "movedim", "as_strided", "unfold"),
    }
)
"""Operators that hand elements on; of ATen without namespace and overload."""
PARTS = frozenset(
    {
        *("Slice", "Gather", "GatherND", "GatherElements", "Split", "Compress", "TopK"),
        *("slice", "select", "split", "unsafe_split", "unbind", "split_with_sizes", "chunk"),
        *("index", "index_select", "gather", "narrow", "topk"),
    }
)
"""Operators that return a part of what they read."""


def matches(file: Trace, eager: Trace, tolerance: float) -> dict[int, tuple[int, float]]:
    """Return for each value of the file that agrees with one of eager's: which, and the error.

    A step that changes nothing agrees only where eager has such a step, too: an addition of zeros
    in the place of a bias returns a value of eager's, the one before.
    """
    inner = {value for step in eager.steps if step.inner for value in step.outputs}
    whole = {value: item for value, item in eager.prints.items() if value not in inner}
    candidates = _by_size({**eager.given, **whole})
    parts = _by_size({value: eager.prints[value] for value in inner if value in eager.prints})
    idle = _by_size({value: eager.prints[value] for value in _idle(eager, tolerance)})
    idle_here = _idle(file, tolerance)
    found: dict[int, tuple[int, float]] = {}
    for value, print_ in {**file.given, **file.prints}.items():
        for groups in (idle,) if value in idle_here else (candidates, parts):
            best = _closest(print_, groups.get(_key(print_), _NONE))
            if best is not None and best[1] <= (tolerance if print_.is_float else 0.0):
                found[value] = best
                break
    return found


def moves(step: Step) -> bool:
    """Tell whether a step only hands elements on."""
    return _plain(step.op) in MOVES


def _picks(step: Step) -> bool:
    return _plain(step.op) in PARTS


def _plain(op: str) -> str:
    """Return `transpose` for aten.transpose.int; operators of ONNX as they are."""
    return op.split(".")[1] if op.startswith(("aten.", "prims.")) else op


def _idle(trace: Trace, tolerance: float) -> set[int]:
    """Return the values of steps that compute something and return what they read."""
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
    """Return the values that a wrong output depends on and that nothing speaks for.

    `right`: those that agree with the other side. `strict`: these speak only for themselves, not
    for what they are computed from; the square of a value is right when its sign is wrong. Shape
    arithmetic is not suspected: only what reads it can be seen to be wrong.
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
    """Return what agrees, and what a telling value that agrees was computed from.

    What picks a part speaks for its source only together with the other parts.
    """
    speaking = {value for value in right if _tells(trace, value)}
    covered: dict[int, int] = {}
    for step in reversed(trace.steps):
        sizes = [trace.prints[value].size for value in step.outputs if value in trace.prints]
        for value in step.inputs:
            if speaking.isdisjoint(step.outputs):
                continue
            if not _picks(step) or value not in trace.prints:
                speaking.add(value)
                continue
            covered[value] = covered.get(value, 0) + sum(sizes)
            if covered[value] >= trace.prints[value].size:
                speaking.add(value)
    return {*right, *trace.given, *speaking}


def _tells(trace: Trace, value: int) -> bool:
    print_ = trace.prints.get(value)
    return print_ is not None and print_.is_telling


def shape_arithmetic(trace: Trace) -> set[int]:
    """Return the values that depend on sizes and constants alone."""
    found: set[int] = set()
    for step in trace.steps:
        if step.op in SHAPES_ONLY or all(value in found for value in step.inputs):
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
