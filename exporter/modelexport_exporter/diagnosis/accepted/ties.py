"""Dims that forward accepts only together: equal, by a factor or a number, or as a sum: pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations

from modelexport_api.sizes import DimExpression
from modelexport_api.spec import Dim
from modelexport_exporter.diagnosis.accepted.limits import Accepts, Limit, Sizes, spread

_CONFIRMED = 2
"""So many pairs of sizes confirm that two dims change together."""


@dataclass(frozen=True)
class Tie:
    """Dims that change together only."""

    names: Sequence[str]
    limit: Limit


def ties(
    accepts: Accepts, fixed: Sequence[str], dims: Mapping[str, Dim], accepted: Sizes
) -> Iterator[Tie]:
    """Yield the dims that change together only: in a sum, equal, or by a factor or a number."""
    left = list(fixed)
    for tie in _sums(accepts, fixed, dims, accepted):
        if {*tie.names} <= {*left}:
            left = [name for name in left if name not in tie.names]
            yield tie
    for count in range(len(left), 1, -1):
        for names in combinations(left, count):
            rule = next(
                (rule for rule in _rules(names, accepted) if _holds(accepts, rule, dims, accepted)),
                None,
            )
            if rule is not None and set(names) <= set(left):
                left = [name for name in left if name not in names]
                yield Tie(names, _described(rule))


@dataclass(frozen=True)
class _Rule:
    """Each of the others = factor * the first + more."""

    first: str
    others: Sequence[str]
    factor: int
    more: int

    def sizes(self, first: int) -> dict[str, int]:
        """Return all sizes for one of the first."""
        return {self.first: first, **dict.fromkeys(self.others, self.factor * first + self.more)}


def _rules(names: Sequence[str], accepted: Sizes) -> Iterator[_Rule]:
    sizes = [accepted[name] for name in names]
    first, others = names[0], names[1:]
    if len(set(sizes)) == 1:
        yield _Rule(first, others, 1, 0)
    elif len(others) == 1:
        yield _Rule(first, others, 1, sizes[1] - sizes[0])
        if sizes[0] and sizes[1] % sizes[0] == 0:
            yield _Rule(first, others, sizes[1] // sizes[0], 0)


def _holds(accepts: Accepts, rule: _Rule, dims: Mapping[str, Dim], accepted: Sizes) -> bool:
    """Return whether other sizes that follow the rule are accepted."""
    changed = (rule.sizes(size) for size in spread(dims[rule.first]))
    within = [
        sizes
        for sizes in changed
        if sizes[rule.first] != accepted[rule.first]
        and all(dims[name].min <= size <= dims[name].max for name, size in sizes.items())
    ]
    tried = within[:_CONFIRMED]
    return bool(tried) and all(accepts({**accepted, **sizes}) for sizes in tried)


def _described(rule: _Rule) -> Limit:
    names = [rule.first, *rule.others]
    listed = f"{', '.join(names[:-1])} and {names[-1]}"
    if rule.factor == 1 and not rule.more:
        return Limit(f"{listed} equal", f"Give {listed} one name in inputs[].shape.")
    (other,) = rule.others
    text = str(DimExpression(rule.first, rule.factor, rule.more))
    return Limit(f"{other} = {text}", f"Write {text} for {other} in inputs[].shape.")


def _sums(
    accepts: Accepts, fixed: Sequence[str], dims: Mapping[str, Dim], accepted: Sizes
) -> Iterator[Tie]:
    """Yield each three dims of which one is the sum of the others: a mask of cached and new."""
    for total in fixed:
        for parts in combinations([name for name in fixed if name != total], 2):
            changes = list(_changes(total, parts, dims, accepted))
            if len(changes) > 1 and all(accepts({**accepted, **sizes}) for sizes in changes):
                yield Tie([total, *parts], _described_sum(total, parts, accepted))


def _changes(
    total: str, parts: Sequence[str], dims: Mapping[str, Dim], accepted: Sizes
) -> Iterator[Sizes]:
    """Yield other sizes of each part with those of the sum, if there are any for both parts."""
    found = {
        part: [
            {part: size, total: accepted[total] + size - accepted[part]}
            for size in spread(dims[part])
            if size != accepted[part]
        ]
        for part in parts
    }
    limits = dims[total]
    within = {
        part: [sizes for sizes in tried if limits.min <= sizes[total] <= limits.max][:_CONFIRMED]
        for part, tried in found.items()
    }
    if all(within.values()):
        yield from chain.from_iterable(within.values())


def _described_sum(total: str, parts: Sequence[str], accepted: Sizes) -> Limit:
    more = accepted[total] - sum(accepted[part] for part in parts)
    text = str(DimExpression(parts[0], 1, more, (*parts[1:],)))
    return Limit(f"{total} = {text}", f"Write {text} for {total} in inputs[].shape.")
