"""Whether the samples reached all of a model, and the samples that reach more of it.

Outputs without elements agree with most files, and a trace agrees with a model on the side of each
branch that it was made on. Both are sought after all other samples ran.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from numpy.typing import NDArray

from modelexport_exporter.core.comparison import SampleComparison
from modelexport_exporter.core.outcome import NotCompared, Unreached
from modelexport_exporter.core.user_frame import is_users
from modelexport_exporter.verification.original import FileSides
from modelexport_exporter.verification.reference import EagerReference
from modelexport_exporter.verification.samples.sample_source import SampleSource
from modelexport_exporter.verification.seeking.branches import (
    Run,
    SidesTaken,
    ValueBranches,
    describe_branch,
    describe_number,
)
from modelexport_exporter.verification.seeking.compared_outputs import empty_outputs
from modelexport_exporter.verification.seeking.found import Found
from modelexport_exporter.verification.seeking.frozen_code import Branches
from modelexport_exporter.verification.seeking.goals import BothSides, DependsOnValues, Elements
from modelexport_exporter.verification.seeking.jumps import Jump
from modelexport_exporter.verification.seeking.paths import NewPaths, Paths
from modelexport_exporter.verification.seeking.seek import LARGEST_VOLUME, Seeker
from modelexport_exporter.verification.seeking.size_paths import SizePaths
from modelexport_exporter.verification.seeking.unmet_conditions import UnmetConditions
from modelexport_exporter.verification.seeking.value_reads import Site, reads_of
from modelexport_exporter.verification.seeking.watched_run import RunWatch, WatchedRun

Array = NDArray[Any]
Arrays = Mapping[str, Array]

SECONDS = 10.0
"""Time to seek elements of outputs; the same again for branches."""
SIZES_SECONDS = 1.0
"""Time to seek sides of the file that depend on sizes, and paths where a condition fails."""
MOST_REACHED = 32
"""Inputs that are tried at other sizes, too."""
MOST_ROUNDS = 4
"""How deep branches inside of branches are sought."""


class Completeness:
    """What the samples of one verification reached."""

    def __init__(
        self,
        samples: SampleSource,
        reference: EagerReference,
        *,
        branches: Branches,
        code_dir: Path | None = None,
        frozen_sizes: bool = False,
        trace: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Watch the runs of `reference` if the graph may hold branches on values.

        `frozen_sizes`: it may also hold what Python computed from sizes. `trace`: it holds what
        Python computed from values.
        """
        self._samples = samples
        self._reference = reference
        self._clock = clock
        self._seeker = Seeker(samples, reference, clock)
        self._sides = SidesTaken()
        self._branches = ValueBranches()
        self._known: set[Site] = set()
        self._unexamined: list[tuple[set[Site], Arrays]] = []
        self._empty: list[str] = []
        self._reached: list[Arrays] = []
        """Inputs that took a side of a branch for the first time."""
        self._may_lack_sides = branches is Branches.ONE_SIDE
        self._frozen_sizes = frozen_sizes
        self._trace = trace
        self._dependent: set[Site] = set()
        self._code_dir = code_dir
        self._conditions = (
            None if samples.proven_graph else UnmetConditions(samples, reference, clock)
        )
        self._guarded = bool(samples.guards) and not samples.proven_graph
        self._paths = Paths()
        self._size_paths = SizePaths(samples, reference, self._paths, clock)
        self._watches = branches is not Branches.NONE
        if self._watches:
            reference.watching = self._watching
        if self._frozen_sizes or self._guarded:
            reference.early.forget()

    @contextmanager
    def _watching(self, arrays: Arrays) -> Iterator[None]:
        # Few models read values; jumps are watched, which takes time, once one does.
        jumps = bool(self._known)
        recorded = self._frozen_sizes or self._guarded or (jumps and self._may_lack_sides)
        watch = RunWatch(jumps=jumps, path=recorded)
        with watch:
            yield
        self.note(arrays, watch.found)

    def note(self, arrays: Arrays, run: WatchedRun) -> None:
        """Add what a run on these inputs showed, whenever it ran."""
        if not self._watches:
            return
        before = self._sides.ways
        if run.taken is not None:
            self._sides.add(run.taken)
        if run.path is not None:
            self._paths.add(run.path)
        small = sum(array.size for array in arrays.values()) <= LARGEST_VOLUME
        if self._sides.ways > before and small and len(self._reached) < MOST_REACHED:
            self._reached.append(arrays)
        if new := {*run.sites} - self._known:
            self._known |= new
            self._reference.early.forget_unwatched()
            self._unexamined.append((new, arrays))

    def seek(
        self,
        results: Sequence[SampleComparison],
        compare: Callable[[Found], None],
        file_sides: FileSides | None,
    ) -> None:
        """Compare samples that reach more. `results`: of all samples so far; `compare` adds to it.

        `file_sides`: those that the file has. Does nothing after a difference.
        """
        if results and not _differ(results):
            self._seek_elements(results, compare)
        if self._unexamined and not _differ(results):
            self._seek_sides(compare)
        decides = bool(self._own_branches or self._own_numbers)
        if decides and self._may_lack_sides and not _differ(results):
            for found in self._seeker.seek(NewPaths(self._paths), SECONDS / 2):
                compare(found)
        if file_sides is not None and not _differ(results):
            self._seek_file_sides(file_sides, compare)
        if self._conditions is not None:
            for found in self._conditions.seek(results, lambda: _differ(results)):
                compare(found)
        self._seek_sizes(results, compare)

    def _seek_sizes(
        self, results: Sequence[SampleComparison], compare: Callable[[Found], None]
    ) -> None:
        if self._guarded and not _differ(results):
            guarded = self._samples.guarded_sizes()
            self._size_paths.seek(guarded, compare, lambda: _differ(results), SIZES_SECONDS)
        if self._frozen_sizes and not _differ(results):
            many = self._samples.many_sizes()
            self._size_paths.seek(many, compare, lambda: _differ(results))

    def _seek_elements(
        self, results: Sequence[SampleComparison], compare: Callable[[Found], None]
    ) -> None:
        empty = empty_outputs(results)
        if not empty or not self._depends_on_values(results[0]):
            return
        names = [output.output for output in results[0].outputs]
        goal = Elements([names.index(name) for name in empty])
        for found in self._seeker.seek(goal, SECONDS):
            compare(found)
        self._empty = empty_outputs(results)

    def _depends_on_values(self, sample: SampleComparison) -> bool:
        """Return whether the emptiness of outputs may depend on values rather than on sizes."""
        drawn = next(entry for entry in self._samples.plan() if entry.dims == sample.dims)
        values = self._reference.values(self._samples.arrays(drawn))
        with torch.no_grad(), DependsOnValues() as ops:
            self._reference.call(values)
        return bool(ops.found)

    def _seek_sides(self, compare: Callable[[Found], None]) -> None:
        until = self._clock() + SECONDS
        for _round in range(MOST_ROUNDS):
            unexamined, self._unexamined = self._unexamined, []
            for sites, arrays in unexamined:
                # What reads weights or a flag in a buffer reads the same in every run.
                dependent, constant = self._reads_of(arrays)
                may_vary = sites - constant
                undo = self._reference.remember()
                self._branches.find(self._run(arrays), may_vary, self._clock, until, undo)
                self._dependent |= dependent if self._trace else set()
            wanted = self._to_be_taken()
            goal = BothSides(self._sides, wanted)
            found = self._seeker.seek(goal, until - self._clock())
            for entry in found:
                compare(entry)
            if not self._unexamined and not set(self._to_be_taken()) - set(wanted):
                return
            further = BothSides(self._sides, self._to_be_taken())
            for entry in self._seeker.seek_near(further, self._reached, SIZES_SECONDS):
                compare(entry)

    def _seek_file_sides(self, sides: FileSides, compare: Callable[[Found], None]) -> None:
        """Compare inputs and sizes at which the file takes a side of an If for the first time."""

        def reach(candidates: Iterable[Found], seconds: float, is_open: Callable[[], bool]) -> None:
            until = self._clock() + seconds
            for found in candidates:
                if not is_open() or self._clock() > until:
                    break
                if sides.reaches(found.arrays) and self._reference.accepts(found.arrays):
                    self._reached.append(found.arrays)
                    compare(found)

        reach(self._seeker.candidates(), SECONDS, lambda: bool(sides.missing))
        reach(self._seeker.sizes(), SIZES_SECONDS, lambda: sides.is_open)
        at_sizes = self._seeker.at_sizes(self._reached)
        reach(at_sizes, SIZES_SECONDS, lambda: bool(sides.missing))
        for _round in range(MOST_ROUNDS):
            before = len(self._reached)
            beside = self._seeker.beside(self._reached)
            reach(beside, SIZES_SECONDS, lambda: bool(sides.missing))
            if len(self._reached) == before:
                break

    def _reads_of(self, arrays: Arrays) -> tuple[frozenset[Site], frozenset[Site]]:
        values = self._reference.values(arrays)
        try:
            return reads_of(values, lambda: self._reference.call(values))
        except Exception:  # noqa: BLE001 - forward is the user's code
            return frozenset(), frozenset()

    def _run(self, arrays: Arrays) -> Run:
        """Return a call of the model."""

        def run() -> list[torch.Tensor]:
            with torch.no_grad():
                return self._reference.call(self._reference.values(arrays))

        return run

    @property
    def _own_branches(self) -> list[Jump]:
        """Return the branches of the user's own code.

        Libraries branch on values to save work, and compute the same on both sides: these are
        compared where samples reach them, and not sought.
        """
        return [jump for jump in self._branches.matter if self._is_own(jump)]

    def _to_be_taken(self) -> list[Jump]:
        """Return the branches of which both sides have to run, and tests that are behind them."""
        own = self._own_branches
        behind = self._sides.behind_others() if own else []
        return list(dict.fromkeys((*own, *filter(self._is_own, behind))))

    @property
    def _own_numbers(self) -> list[Site]:
        """Return the places of the user's own code that read a number."""
        return [site for site in self._branches.numbers if self._is_own(site)]

    def _is_own(self, place: Jump | Site) -> bool:
        """Return whether a place is in the user's own code."""
        return is_users(place.code.co_filename, self._code_dir)

    def not_compared(self) -> tuple[NotCompared, ...]:
        """Return what no sample reached."""
        sides = self._to_be_taken() if self._may_lack_sides else []
        sides = BothSides(self._sides, sides).missing
        code_dir = self._code_dir
        branches = dict.fromkeys(describe_branch(jump, code_dir) for jump in sides)
        numbers = [
            describe_number(site, code_dir) for site in self._own_numbers if site in self._dependent
        ]
        return (
            *(NotCompared(Unreached.NUMBER, number) for number in dict.fromkeys(numbers)),
            *(NotCompared(Unreached.ELEMENTS, f"output {name}") for name in self._empty),
            *(NotCompared(Unreached.SIDE, branch) for branch in branches),
        )

    def coverage(self) -> list[str]:
        """Return a sentence on the branches of which both sides ran."""
        reached = sum(self._sides.took_both(jump) for jump in self._branches.matter)
        tried = self._size_paths.tried
        branches, sizes = _counted(reached, "branch", "es"), _counted(tried, "combination", "s")
        return [
            *(f"both sides of {entry} on values" for entry in branches),
            *(f"the calls of eager PyTorch at {entry} of sizes" for entry in sizes),
        ]


def _counted(count: int, noun: str, plural: str) -> list[str]:
    """Return `1 branch`, `2 branches`; nothing for 0."""
    return [f"{count} {noun}{plural if count > 1 else ''}"] if count else []


def _differ(results: Sequence[SampleComparison]) -> bool:
    return any(result.differs for result in results)
