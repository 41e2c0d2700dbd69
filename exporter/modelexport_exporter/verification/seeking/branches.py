"""Branches of the model's Python code on values of tensors, and the sides that samples took.

A branch depends on a value if it goes another way when Python reads another value: the model runs
once for each other value of each place that reads one. Nothing is concluded from the text of the
code, so that helpers, decorators and loops are branches like any other.
"""

from __future__ import annotations

import linecache
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from modelexport_exporter.core.user_frame import shorten
from modelexport_exporter.verification.seeking.jumps import (
    Jump,
    Taken,
    WatchedJumps,
    is_raised_by_model,
    may_test,
    may_vary,
    raises_elsewhere,
)
from modelexport_exporter.verification.seeking.value_reads import (
    Replacement,
    Site,
    ValueReads,
    replacements,
)

Run = Callable[[], Sequence[torch.Tensor]]
"""Runs the model on some inputs; raises what the model raises."""
Clock = Callable[[], float]


class SidesTaken:
    """Which ways the jumps of the model went, over all runs that were watched."""

    def __init__(self) -> None:
        self._targets: defaultdict[Jump, set[int]] = defaultdict(set)
        self._patterns: defaultdict[Jump, set[tuple[int, ...]]] = defaultdict(set)
        self._runs: defaultdict[Jump, int] = defaultdict(int)
        """In how many runs a jump was met at all."""
        self._watched = 0

    @contextmanager
    def watching(self, *, limited: bool = False) -> Iterator[set[Site]]:
        """Watch one run; what it yields holds the places that read a value, once it ended.

        `limited`: raise RunTooLongError in a run that does not seem to end.
        """
        watched, reads, sites = WatchedJumps(limited=limited), ValueReads(), set[Site]()
        with watched, reads:
            yield sites
        sites |= set(reads.read)
        self.add(watched.taken)

    def add(self, taken: Sequence[Taken]) -> None:
        """Add the jumps of a run that was watched elsewhere."""
        self._watched += 1
        for jump, pattern in _patterns(taken).items():
            self._targets[jump] |= set(pattern)
            self._patterns[jump].add(pattern)
            self._runs[jump] += 1

    @property
    def ways(self) -> int:
        """Return how many sides of jumps were taken."""
        return sum(map(len, self._targets.values()))

    def behind_others(self) -> list[Jump]:
        """Return jumps that some runs only met, all of which went the same way.

        `if score > 9 and n % 13 == 5`: the second test is met on one side of the first.
        """
        return [
            jump
            for jump, targets in self._targets.items()
            if self._runs[jump] < self._watched and len(targets) == 1
            if may_vary(jump) and not raises_elsewhere(Taken(jump, next(iter(targets))))
        ]

    def took_both(self, jump: Jump) -> bool:
        """Return whether samples went both ways, and at least two of them differently.

        A loop leads into its body and out of it in each run: what counts is how often.
        """
        return len(self._targets[jump]) > 1 and len(self._patterns[jump]) > 1


@dataclass
class ValueBranches:
    """The branches that depend on a value."""

    matter: dict[Jump, None] = field(default_factory=dict)
    """Those with another result on the other side, in the order of their discovery."""
    numbers: dict[Site, None] = field(default_factory=dict)
    """Places that read a number which Python computes with, and which no branch shows."""

    def find(
        self,
        run: Run,
        sites: Collection[Site],
        clock: Clock,
        until: float,
        undo: Callable[[], None] = lambda: None,
    ) -> None:
        """Add the branches that depend on what these places read.

        Branches that test such a value count although none of the other values changed them.
        `undo`: called after each run; another side may initialize the model.
        """

        def observed(replacement: Replacement | None) -> _Observation:
            found = _observed(run, replacement)
            undo()
            return found

        before = observed(None)
        for site in sites:
            if site not in before.read:
                continue
            depending: set[Jump] = set()
            computes = False
            for replacement in replacements(site, before.read[site]):
                if clock() > until:
                    break
                after = observed(replacement)
                depending |= self._compare(before, after)
                computes |= not after.failed and after.has_other_effect(before)
            tested = self._add_tests_of(site, before, depending)
            if not depending and not tested and not before.failed:
                useless = Replacement(site, useless=True)
                if computes or observed(useless).failed:
                    self.numbers[site] = None

    def _add_tests_of(self, site: Site, before: _Observation, known: Collection[Jump]) -> bool:
        """Add branches that test what the place reads, though no other value changed them."""
        tests = [entry for entry in before.taken if may_test(entry.jump, site.code, site.offset)]
        for entry in tests:
            if entry.jump not in known and not raises_elsewhere(entry):
                self.matter[entry.jump] = None
        return bool(tests)

    def _compare(self, before: _Observation, after: _Observation) -> set[Jump]:
        """Add the branches that matter among those that went another way; return all of these."""
        depending = set(_diverging(before.taken, after.taken))
        if not after.refused and after.has_other_effect(before):
            self.matter |= dict.fromkeys(depending)
        return depending


@dataclass(frozen=True)
class _Observation:
    taken: list[Taken]
    read: dict[Site, Any]
    calls: list[str]
    outputs: Sequence[torch.Tensor]
    refused: bool = False
    """Whether the model itself raised: it does not accept such values."""
    failed: bool = False

    def has_other_effect(self, other: _Observation) -> bool:
        """Return whether anything but Python code differs: a warning is no other result."""
        if self.failed or other.failed or self.calls != other.calls:
            return True
        return len(self.outputs) != len(other.outputs) or not all(
            _identical(one, two) for one, two in zip(self.outputs, other.outputs, strict=True)
        )


def _observed(run: Run, replacement: Replacement | None) -> _Observation:
    jumps, reads = WatchedJumps(limited=True), ValueReads(replacement)
    outputs: Sequence[torch.Tensor] = ()
    refused = failed = False
    try:
        with jumps, reads:
            outputs = run()
    except Exception as error:  # noqa: BLE001 - whatever the model's code raises
        failed, refused = True, is_raised_by_model(error)
    return _Observation(jumps.taken, reads.read, reads.calls, outputs, refused, failed)


def _identical(one: torch.Tensor, other: torch.Tensor) -> bool:
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    if not one.is_floating_point():
        return torch.equal(one, other)
    return bool(torch.equal(one.nan_to_num(), other.nan_to_num()))


def _diverging(before: list[Taken], after: list[Taken]) -> Iterator[Jump]:
    """Yield the first jump that goes another way, and others that do so as often as before."""
    for one, other in zip(before, after, strict=False):
        if one != other:
            if one.jump == other.jump:
                yield one.jump
            break
    then = _patterns(after)
    for jump, pattern in _patterns(before).items():
        if jump in then and len(then[jump]) == len(pattern) and then[jump] != pattern:
            yield jump


def _patterns(taken: Sequence[Taken]) -> dict[Jump, tuple[int, ...]]:
    """Return where each jump led, each time in order."""
    found: defaultdict[Jump, list[int]] = defaultdict(list)
    for entry in taken:
        found[entry.jump].append(entry.target)
    return {jump: tuple(targets) for jump, targets in found.items()}


def describe_number(site: Site, code_dir: Path | None) -> str:
    """Return ``net.py:12: `scale = table[x.argmax().item()]```."""
    return _describe(site.code.co_filename, site.line, code_dir)


def describe_branch(jump: Jump, code_dir: Path | None) -> str:
    """Return ``net.py:12: `if x.max() > 400:```."""
    return _describe(jump.code.co_filename, jump.line, code_dir)


def _describe(filename: str, line: int, code_dir: Path | None) -> str:
    text = linecache.getline(filename, line).strip()
    place = f"{shorten(filename, code_dir)}:{line}"
    return f"{place}: `{text[:120]}`" if text else place
