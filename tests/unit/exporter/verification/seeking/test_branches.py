"""Branches of Python on values: which ones depend on a value, and which sides ran."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable

import pytest
import torch

from modelexport_exporter.verification.seeking.branches import SidesTaken, ValueBranches
from modelexport_exporter.verification.seeking.jumps import RunTooLongError
from modelexport_exporter.verification.seeking.value_reads import reads_of

Model = Callable[[torch.Tensor], torch.Tensor]
X = torch.tensor([1.0, 2.0, 3.0])


def _branches(model: Model, x: torch.Tensor = X) -> list[int]:
    """Return the lines of branches that matter, counted from the first line of the model."""
    found, sides = ValueBranches(), SidesTaken()
    with sides.watching() as sites:
        model(x)
    found.find(lambda: [model(x)], sites, time.monotonic, time.monotonic() + 60)
    first = model.__code__.co_firstlineno
    return sorted({jump.line - first for jump in found.matter})


def chooses(x: torch.Tensor) -> torch.Tensor:
    return x * 2 if x.sum() > 100 else x


def reads_first(x: torch.Tensor) -> torch.Tensor:
    number = x.max().item()
    y = x + 1
    if number > 7:
        return y
    return x


def lists(x: torch.Tensor) -> torch.Tensor:
    return x + 1 if 5.0 in x.tolist() else x


def loops(x: torch.Tensor) -> torch.Tensor:
    for _ in range(int(x[0])):
        x = x * 2
    return x


def halves(x: torch.Tensor) -> torch.Tensor:
    while x.max() > 10:
        x = x / 2
    return x


def rare_number(x: torch.Tensor) -> torch.Tensor:
    return x + 1 if float(x.sum()) * 1e9 % 7 == 0.123 else x


def sums(x: torch.Tensor) -> torch.Tensor:
    total = 0.0
    for value in x.tolist():
        total += value
    return x + total


def compares_types(x: torch.Tensor, scale: float | None = None) -> torch.Tensor:
    number = x.sum().item()
    if scale is None:
        scale = 2.0
    return x * scale + number


def raises(x: torch.Tensor) -> torch.Tensor:
    if x.isnan().any():
        raise ValueError
    assert x.sum() < 1e30
    return x


def raises_for_a_rare_number(x: torch.Tensor) -> torch.Tensor:
    if float(x.sum()) * 1e9 % 7 == 0.123:
        raise ValueError
    return x


def warns(x: torch.Tensor) -> torch.Tensor:
    if x.max() > 100:
        warnings.warn("large", stacklevel=1)
    return x * 2


@pytest.mark.parametrize(
    ("model", "lines"),
    [
        (chooses, [1]),
        (reads_first, [3]),
        (lists, [1]),
        (loops, [1]),
        (halves, [1]),
        (rare_number, [1]),
        (sums, []),
        (compares_types, []),
        (raises, []),
        (raises_for_a_rare_number, []),
        (warns, []),
    ],
)
def test_branches_that_depend_on_values(model: Model, lines: list[int]) -> None:
    assert _branches(model) == lines


@pytest.mark.parametrize(
    ("inputs", "both"),
    [
        ([X], False),
        ([X, X + 1], False),
        ([X, X + 100], True),
    ],
)
def test_sides_that_ran(inputs: list[torch.Tensor], both: bool) -> None:
    sides, found = SidesTaken(), ValueBranches()
    for x in inputs:
        with sides.watching() as sites:
            chooses(x)
    found.find(lambda: [chooses(X)], sites, time.monotonic, time.monotonic() + 60)
    assert [sides.took_both(jump) for jump in found.matter] == [both]


def test_a_loop_counts_when_it_ran_differently() -> None:
    sides, found = SidesTaken(), ValueBranches()
    with sides.watching() as sites:
        loops(X)
    found.find(lambda: [loops(X)], sites, time.monotonic, time.monotonic() + 60)
    (jump,) = found.matter
    assert not sides.took_both(jump)
    with sides.watching():
        loops(X + 2)
    assert sides.took_both(jump)


def test_a_loop_without_end_is_stopped() -> None:
    def endless(x: torch.Tensor) -> torch.Tensor:
        while not x.isnan().any():
            x = x + 1
        return x

    sides = SidesTaken()
    with pytest.raises(RunTooLongError), sides.watching(limited=True):
        endless(X)


def compares_lists(x: torch.Tensor) -> torch.Tensor:
    return x * [1, 3][x.tolist() == [4.0, 8.0, 15.0]]


def looks_up(x: torch.Tensor) -> torch.Tensor:
    return x * {7.0: 2.0}.get(x.max().item(), 1.0)


def reads_a_flag(x: torch.Tensor) -> torch.Tensor:
    return x * [1, 3][bool(x.sum() > 100)]


def hashes(x: torch.Tensor) -> torch.Tensor:
    return x * (1 + hash(tuple(x.tolist())) % 2)


def writes(x: torch.Tensor) -> torch.Tensor:
    text = f"largest {x.max().item():.3f} of {x.tolist()}"
    return x if text else -x


@pytest.mark.parametrize(
    ("model", "computes"),
    [
        (compares_lists, True),
        (looks_up, True),
        (reads_a_flag, True),
        (hashes, True),
        (sums, True),
        (writes, False),
        (chooses, False),
        (raises, False),
        (raises_for_a_rare_number, False),
    ],
)
def test_numbers_that_python_computes_with(model: Model, computes: bool) -> None:
    found, sides = ValueBranches(), SidesTaken()
    with sides.watching() as sites:
        model(X)
    found.find(lambda: [model(X)], sites, time.monotonic, time.monotonic() + 60)
    assert bool(found.numbers) is computes


WEIGHT = torch.tensor([0.5])


def reads_both(x: torch.Tensor) -> torch.Tensor:
    scale = WEIGHT.item()
    total = (x + WEIGHT).sum().item()
    if bool(WEIGHT > 0.2) and bool((x > 9).all()):
        return x
    return x * scale + total


def test_reads_of_weights_are_constant_where_no_input_is_read_in_their_line() -> None:
    x = X.clone()
    for _ in range(40):  # Python replaces instructions of what runs often
        _, sites = reads_of({"x": x}, lambda: reads_both(x))
        assert [site.line for site in sites] == [reads_both.__code__.co_firstlineno + 1]


def test_a_place_stays_the_same_when_python_specializes_its_instructions() -> None:
    seen = set()
    for _ in range(40):
        with SidesTaken().watching() as sites:
            reads_both(X)
        seen |= sites
    assert len(seen) == 4


def of_both(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 5 and x.shape[0] % 13 == 5:
        return x * 2
    return x


def of_a_setting(x: torch.Tensor, setting: torch.Tensor | None = None) -> torch.Tensor:
    if x.sum() > 5:
        if setting is not None:
            return x * setting
        if x.dim() > 1:
            return x + 1
        if hasattr(x, "weights"):
            return x * 3
    return x


def of_a_check(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 5 and x.shape[0] > 40:
        raise ValueError
    return x


@pytest.mark.parametrize(
    ("model", "behind"), [(of_both, [1]), (of_a_setting, []), (of_a_check, [])]
)
def test_a_test_that_is_met_behind_another(model: Model, behind: list[int]) -> None:
    """It counts if it may go another way: sizes do, and what a call always has does not."""
    sides = SidesTaken()
    for x in (X / 2, 2 * X):
        with sides.watching():
            model(x)
    first = model.__code__.co_firstlineno
    assert [jump.line - first for jump in sides.behind_others()] == behind
    with sides.watching():
        model(torch.ones(18))
    assert not [jump for jump in sides.behind_others() if model is of_both]
