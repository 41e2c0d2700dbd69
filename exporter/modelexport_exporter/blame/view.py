"""The two runs compared: matching values, suspected values, and pairs that may correspond.

Pure: `search`, which can run the file again, confirms or rejects a pair.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from modelexport_exporter.blame import match
from modelexport_exporter.blame.correspondence import corresponds
from modelexport_exporter.blame.fingerprint import Fingerprint, distance
from modelexport_exporter.blame.trace import Step, Trace

_CONSIDERED = 64
"""Number of suspected values of each side that are paired."""
_OTHER_OPERATOR = 0.5
"""The cost of a pair whose operators differ by name: of two that explain the same, the last."""


@dataclass(frozen=True)
class Pair:
    """A value of the file, and the value of eager's that it should be."""

    mine: int
    theirs: int


class View:
    """The two runs of one sample, compared."""

    def __init__(
        self,
        file: Trace,
        eager: Trace,
        tolerance: float,
        wrong_outputs: Sequence[int],
        *,
        strict: bool = False,
    ) -> None:
        """Compare them; `wrong_outputs`: positions among the outputs; `strict`: see `match`."""
        self.file = file
        self.eager = eager
        self.tolerance = tolerance
        self.wrong = tuple(wrong_outputs)
        self.matched = match.matches(file, eager, tolerance)
        mine = [file.outputs[at] for at in self.wrong]
        theirs = [eager.outputs[at] for at in self.wrong if at < len(eager.outputs)]
        inner = {value for step in eager.steps if step.inner for value in step.outputs}
        self.right = set(self.matched) - set(mine)
        self._weak = weak = {value for value in self.right if self._is_weak(value)}
        self.maybe = {value for value in self.right if self.matched[value][0] in inner} | weak
        """Matches of a part of an op only, as the rest of the op may be missing after it; and
        matches that chance explains."""
        self.mine = match.suspects(file, self.right - self.maybe, mine, strict=strict)
        known = {value for own, (value, _) in self.matched.items() if own not in weak} - set(theirs)
        self.theirs = match.suspects(eager, known, theirs, strict=strict)
        self._computed_from: dict[int, set[int]] = {}
        self._mine_ranked = match.rank(file, self.mine)
        self._theirs_ranked = match.rank(eager, self.theirs)

    def _is_weak(self, value: int) -> bool:
        """Return whether a match may be chance: of two conditions one in two is, of one row."""
        print_ = self.file.prints.get(value)
        return print_ is not None and print_.may_match_by_chance

    def pairs(self, most: int, before: Pair | None = None) -> list[Pair]:
        """Return pairs that may correspond, those that blame the fewest steps first.

        `before`: return only pairs that this one is computed from.
        """
        mine, theirs = self._candidates(before)
        found: list[tuple[float, int, Pair]] = []
        for i, here in enumerate(mine[:_CONSIDERED]):
            for j, there in enumerate(theirs):
                if self._may_be_one(here, there):
                    found.append((self._cost(here, there, i, j), len(found), Pair(here, there)))
        return [pair for _, _, pair in heapq.nsmallest(most, found)]

    def _candidates(self, before: Pair | None) -> tuple[list[int], list[int]]:
        mine: Iterable[int] = self._mine_ranked
        theirs: Iterable[int] = self._theirs_ranked
        if before is not None:
            here = self.file.leading_to([before.mine]) - {before.mine}
            there = self.eager.leading_to([before.theirs]) - {before.theirs}
            mine = [value for value in mine if value in here]
            theirs = [value for value in theirs if value in there]
        recorded = [value for value in mine if value in self.file.prints]
        return recorded, self._distinct(theirs)

    def _distinct(self, ranked: Iterable[int]) -> list[int]:
        """Return the values without duplicates of an earlier one."""
        found: list[int] = []
        for value in ranked:
            print_ = self.eager.prints.get(value)
            if len(found) >= _CONSIDERED:
                break
            if print_ is not None and all(
                distance(print_, self.eager.prints[known]) > 0 for known in found
            ):
                found.append(value)
        return found

    def _may_be_one(self, mine: int, theirs: int) -> bool:
        one, other = self.file.prints[mine], self.eager.prints[theirs]
        alike = one.is_float == other.is_float and (one.dtype == "bool") == (other.dtype == "bool")
        return one.size == other.size and alike

    def _cost(self, mine: int, theirs: int, i: int, j: int) -> float:
        here, there = self._my_step(mine), self._their_step(theirs)
        cost = float(self._mine_ranked[mine] + self._theirs_ranked[theirs]) + (i + j) / 1000
        if here.module is not None and here.module != there.module:
            cost += 4
        if self.file.prints[mine].shape != self.eager.prints[theirs].shape:
            cost += 2
        if not corresponds(here.op, there.op):
            cost += _OTHER_OPERATOR
        return cost

    def behind(self, value: int, most: int) -> list[int]:
        """Return the next suspected values that are computed from one, and the wrong outputs."""
        reached, found = {value}, list[int]()
        for step in self.file.steps:
            if reached.isdisjoint(step.inputs):
                continue
            reached.update(step.outputs)
            found.extend(entry for entry in step.outputs if entry in self.mine)
        outputs = [entry for entry in found if entry in self._wrong_values]
        return list(dict.fromkeys([*found[:most], *outputs]))

    @cached_property
    def _wrong_values(self) -> dict[int, int]:
        """The file's wrong outputs -> eager's."""
        count = len(self.eager.outputs)
        return {self.file.outputs[at]: self.eager.outputs[at] for at in self.wrong if at < count}

    def is_output(self, pair: Pair) -> bool:
        """Return whether both are the same output of the model."""
        there = self._wrong_values.get(pair.mine)
        return there is not None and self._same(there, self.eager.prints[pair.theirs])

    def confirms(self, pair: Pair, value: int, found: Fingerprint) -> bool:
        """Return whether a wrong value equals eager's once the pair's value is replaced.

        A value with the pair's own elements proves nothing, unless it is the output; nor does one
        that stays as it was, or equals what eager computes before the pair's value.
        """
        before = self.file.prints.get(value)
        if before is not None and distance(before, found) <= self.tolerance:
            return False
        if value in self._wrong_values:
            return self._same(self._wrong_values[value], found)
        own = self.eager.prints[pair.theirs]
        if not found.is_distinctive or distance(own, found) <= self.tolerance:
            return False
        later = self.theirs.intersection(self._read_from(pair.theirs))
        return any(self._same(there, found) for there in later)

    def _read_from(self, theirs: int) -> set[int]:
        """Return the values that eager computes from one."""
        if theirs not in self._computed_from:
            reached = {theirs}
            for step in self.eager.steps:
                if not reached.isdisjoint(step.inputs):
                    reached.update(step.outputs)
            self._computed_from[theirs] = reached - {theirs}
        return self._computed_from[theirs]

    def _same(self, theirs: int, print_: Fingerprint) -> bool:
        known = self.eager.prints.get(theirs)
        return known is not None and distance(known, print_) <= self.tolerance

    def skip_unchanged(self, pair: Pair) -> Pair:
        """Return the pair with the value after the next step, if that step changes nothing.

        Then the fault is the bias of zeros, and not the product before it.
        """
        if pair.mine not in self.maybe:
            return pair
        for step in self.file.steps:
            if pair.mine in step.inputs and not match.moves(step):
                for value in step.outputs:
                    print_ = self.file.prints.get(value)
                    own = self.file.prints[pair.mine]
                    if print_ is not None and distance(own, print_) <= self.tolerance:
                        return Pair(value, pair.theirs)
        return pair

    def nodes(self, pair: Pair | None) -> list[int]:
        """Return the file's steps that may have the fault: one in the best case."""
        producers = self.file.producers()
        if pair is None:
            reached = self._reaching_outputs()
            ranked = [value for value in self._mine_ranked if producers[value] in reached]
            certain = [value for value in ranked if value not in self.maybe]
            return [producers[value] for value in [*certain, *ranked, *self._mine_ranked][:1]]
        # A weak match is chance only where its own value is replaced.
        steps = match.region(self.file, self.mine - self._weak | {pair.mine}, pair.mine)
        return [at for at in steps if at == producers[pair.mine] or not self._is_maybe(at)]

    def _reaching_outputs(self) -> set[int]:
        """Return the suspected steps with no value that is right between them and a wrong output.

        What is wrong behind a right value does not reach the output through it.
        """
        doubtful = self.mine - self.maybe
        return {
            at
            for output in self.wrong
            for at in match.region(self.file, doubtful, self.file.outputs[output])
        }

    def _is_maybe(self, at: int) -> bool:
        return self.maybe.issuperset(self.file.steps[at].outputs)

    def producer_of(self, pair: Pair) -> int:
        """Return the step that writes the file's value."""
        return self._my_producers[pair.mine]

    def misread(self, at: int, pair: Pair) -> list[Pair]:
        """Return inputs of a step that match a value which eager's op does not read.

        An op between the two is missing in the file then, and not in the step: without its
        activation the output of a convolution is still one of eager's values.
        """
        step = self.file.steps[at]
        op = self.op_of(step, pair)
        if op is None:
            return []
        read = [value for value in op.inputs if value in self._their_producers]
        mine = [value for value in step.inputs if value in self.matched]
        right = {value for value in mine if any(self._are_one(value, there) for there in read)}
        left = [
            there
            for there in read
            if there in self.eager.prints
            and not any(self._are_one(value, there) for value in right)
        ]
        return [
            Pair(value, there)
            for value in mine
            if value not in right and value in self._my_producers and value in self.file.prints
            for there in left
            if self._may_be_one(value, there)
        ]

    def _are_one(self, mine: int, theirs: int) -> bool:
        here = self.file.prints.get(mine) or self.file.given.get(mine)
        return here is not None and self._same(theirs, here)

    def chosen(self, nodes: Sequence[int]) -> int:
        """Return the step to name: the first that computes something."""
        working = [at for at in nodes if not match.moves(self.file.steps[at])]
        return (working or list(nodes))[0]

    def op_of(self, step: Step, pair: Pair | None) -> Step | None:
        """Return the ATen op that the step implements."""
        if pair is not None:
            steps = match.region(self.eager, self.theirs, pair.theirs)
        else:
            producers = self.eager.producers()
            steps = [producers[value] for value, n in self._theirs_ranked.items() if n == 1]
        ops = [self.eager.steps[at] for at in steps]
        if not ops:
            return None
        return max(
            reversed(ops) if pair is not None else ops,
            key=lambda op: (corresponds(step.op, op.op), step.module in {None, op.module}),
        )

    def error_before(self, nodes: Collection[int]) -> float | None:
        """Return the largest relative error of the values that these steps read from others."""
        errors = [self.matched[value][1] for value in self._read(nodes) if value in self.matched]
        return max(errors, default=None)

    def _read(self, nodes: Collection[int]) -> Iterator[int]:
        own = {value for at in nodes for value in self.file.steps[at].outputs}
        for at in nodes:
            yield from (value for value in self.file.steps[at].inputs if value not in own)

    def _my_step(self, value: int) -> Step:
        return self.file.steps[self._my_producers[value]]

    def _their_step(self, value: int) -> Step:
        return self.eager.steps[self._their_producers[value]]

    @cached_property
    def _my_producers(self) -> dict[int, int]:
        return self.file.producers()

    @cached_property
    def _their_producers(self) -> dict[int, int]:
        return self.eager.producers()
