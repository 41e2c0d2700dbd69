"""What a model's Python sees while its decisions are forced."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from modelexport_exporter.torch_internals.forced_decisions import ForcedDecisions

X = torch.tensor([1.5, -2.0, 3.0])


def decided(function: Callable[[Tensor], Any], *sides: bool) -> tuple[Any, ForcedDecisions]:
    with ForcedDecisions(sides, lambda: None) as decisions:
        return function(X), decisions


@pytest.mark.parametrize(
    ("function", "holds"),
    [
        (lambda x: 1 if x.sum() > 0 else 0, True),
        (lambda x: 1 if (x.sum() > 9) else 0, False),
        (lambda x: 1 if x[0] else 0, True),
        (lambda x: int(bool((x < 0).all())), False),
        (lambda x: int(torch.equal(x, x.clone())), True),
        (lambda x: int(x.equal(-x)), False),
        (lambda x: int(torch.allclose(x, x + 1, atol=2.0)), True),
        (lambda x: int(3.0 in x), True),
        (lambda x: int(torch.is_nonzero(x[1])), True),
        (lambda x: 1 if x[0].item() > 1.25 else 0, True),
        (lambda x: 1 if x.tolist()[1] > 0 else 0, False),
    ],
)
def test_a_decision_is_forced_and_its_condition_kept(
    function: Callable[[Tensor], int], holds: bool
) -> None:
    for side in (True, False):
        result, decisions = decided(function, side)
        assert result == int(side)
        assert decisions.taken == [side]
        (condition,) = decisions.conditions
        assert condition.shape == ()
        assert condition.dtype is torch.bool
        assert condition.item() is holds


def test_decisions_that_are_not_forced_take_the_true_side() -> None:
    result, decisions = decided(lambda x: [bool(part > 0) for part in x], False)
    assert result == [False, True, True]
    assert decisions.taken == result
    assert [bool(condition) for condition in decisions.conditions] == [True, False, True]


def test_shapes_decide_without_a_condition() -> None:
    result, decisions = decided(lambda x: torch.equal(x, x[:2]))
    assert result is False
    assert not decisions.taken


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x: x[0].item(), torch.tensor(1.5, dtype=torch.float64)),
        (lambda x: x.long().sum().item(), torch.tensor(2)),
        (lambda x: torch.tensor(x[0].item() * 2), torch.tensor(3.0)),
        (lambda x: torch.tensor([x[0].item(), 7]), torch.tensor([1.5, 7.0])),
        (lambda x: torch.tensor(x.tolist()[::-1]), X.flip(0)),
        (lambda x: torch.tensor([x[0].item()], dtype=torch.int64), torch.tensor([1])),
        (lambda x: torch.tensor([1, 2]) + x.shape[0], torch.tensor([4, 5])),
        (lambda x: x[None].tolist(), [[1.5, -2.0, 3.0]]),
    ],
)
def test_numbers_of_tensors_stay_tensors(
    function: Callable[[Tensor], Any], expected: Tensor | list[list[float]]
) -> None:
    result, decisions = decided(function)
    torch.testing.assert_close(result, expected, rtol=0, atol=0)
    assert not decisions.taken


def test_the_block_alone_is_changed() -> None:
    decided(lambda x: x[0].item())
    assert isinstance(X[0].item(), float)


@pytest.mark.parametrize(
    ("decide", "number"),
    [
        (lambda n: n * 0.01 > 1000000.0, 100_000_001),
        (lambda n: n / 2 == n // 2, 16_777_217),
        (lambda n: n > 16_777_216.5, 16_777_217),
        (lambda n: (n - 1) * 0.1 == 1677721.6, 16_777_217),
        (lambda n: 1 / n < 5.9604643e-08, 16_777_217),
        (lambda n: n // 3 == -7, -20),
        (lambda n: n * n > 2**53, 94_906_267),
    ],
)
def test_integers_are_pythons(decide: Callable[[Any], Any], number: int) -> None:
    given = torch.tensor(number)
    with ForcedDecisions((), lambda: None) as decisions:
        bool(decide(given.item()))
    assert bool(decisions.conditions[0]) is decide(number)


def test_an_integer_of_python_leaves_the_dtype_of_tensors_as_it_is() -> None:
    number, single = torch.tensor(3), torch.tensor(0.5)
    with ForcedDecisions((), lambda: None):
        taken = number.item()
        assert (single * taken).dtype is torch.float32
        assert (X * (taken * 0.1)).dtype is torch.float32
        assert (torch.arange(3) * taken).dtype is torch.int64
        assert (torch.arange(3) * taken * 0.1).dtype is torch.float32


@pytest.mark.parametrize(
    ("sides", "number"), [((True,), 2), ((False, True), 3), ((False, False), 4)]
)
def test_an_integer_is_chosen_by_a_decision_for_each_value(
    sides: tuple[bool, ...], number: int
) -> None:
    given = torch.tensor(3)
    with ForcedDecisions(sides, lambda: None) as decisions:
        assert decisions.choose(given, 2, 4) == number
    assert decisions.taken == list(sides)
    assert [bool(one) for one in decisions.conditions] == [False, True][: len(sides)]


@pytest.mark.parametrize(
    ("function", "values"),
    [
        (lambda x: [7, 8, 9][x.argmax()], 3),
        (lambda x: [7, 8, 9][x.argmin(0).item()], 3),
        (lambda x: "ab"[x.reshape(1, 3)[:, :2].argmax(dim=1)[0].item()], 2),
        (lambda x: [*range(x.argmax(-1).long())], 3),
    ],
)
def test_indices_of_few_values_are_chosen(
    function: Callable[[Tensor], object], values: int
) -> None:
    found = set()
    for place in range(values):
        sides = [False] * place + [True] * (place < values - 1)
        result, decisions = decided(function, *sides)
        assert decisions.taken == sides
        found.add(str(result))
    assert len(found) == values


def test_other_indices_are_not_chosen() -> None:
    for function in (
        lambda x: [4, 5, 6][(x > 0).sum()],
        lambda x: [4, 5, 6][x.argmin().max(torch.tensor(2))],
        lambda x: [4, 5, 6][x.argmin().clamp(min=2)],
    ):
        result, decisions = decided(function)
        assert (result, decisions.taken) == (6, [])
