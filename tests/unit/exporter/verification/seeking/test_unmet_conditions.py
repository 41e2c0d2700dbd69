"""Inputs that fulfil rules of a model, found from its comparisons."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from modelexport_api.spec import Input
from modelexport_exporter.verification.seeking.conditions import (
    Seen,
    Side,
    Wish,
    elements_near,
)
from modelexport_exporter.verification.seeking.decisive import decisive
from modelexport_exporter.verification.seeking.directions import always, effective, single_elements
from modelexport_exporter.verification.seeking.recorded_conditions import Condition, record
from modelexport_exporter.verification.seeking.solve import differences_of, solve
from modelexport_exporter.verification.seeking.ways import ways_to

Tensors = Mapping[str, torch.Tensor]
Arrays = Mapping[str, NDArray[Any]]
Rule = Callable[[Tensors], torch.Tensor]

INPUTS = [
    Input.model_validate({"name": "x", "dtype": "float32", "shape": [2, 3]}),
    Input.model_validate({"name": "n", "dtype": "int64", "shape": [2], "range": [0, 100000]}),
    Input.model_validate({"name": "m", "dtype": "int64", "shape": [2], "range": [0, 100000]}),
]
START: Arrays = {
    "x": np.linspace(-1, 1, 6, dtype="f4").reshape(2, 3),
    "n": np.array([40, 3]),
    "m": np.array([7, 90000]),
}
LISTED = torch.tensor([12, 700, 1100])


def runner(rule: Rule) -> Callable[[Arrays], list[Condition]]:
    def run(arrays: Arrays) -> list[Condition]:
        values = {name: torch.from_numpy(array) for name, array in arrays.items()}
        return record(lambda: rule(values))

    return run


def sought(rule: Rule, side: Side = Side.TRUE, place: int = -1) -> dict[str, NDArray[Any]] | None:
    """Return inputs for which the last condition of a rule has this side."""
    run = runner(rule)
    conditions = run(START)
    place %= len(conditions)
    wish = Wish(place, conditions[place].op, side)
    for element in elements_near(conditions, wish):
        for way in ways_to(conditions, wish, element):
            found = solve(run, START, always(single_elements(INPUTS, START)), way)
            if found is not None:
                return found
    return None


RULES: dict[str, Rule] = {
    "narrow": lambda v: (v["x"][:, 0] >= 61) & (v["x"][:, 0] < 61.02) & (v["x"][:, 1] > 95.5),
    "not an or": lambda v: ~((v["x"][:, 0] < 880.25) | (v["x"][:, 0] > 880.75)),
    "of a product": lambda v: (v["x"][:, 0] * v["x"][:, 1] > 500) & (v["x"][:, 1] < 2),
    "of integers": lambda v: (v["n"] - v["m"] == 1096) & (v["x"].sum(1) > 7),
    "of a quotient": lambda v: (v["n"] // 30 >= 1000) & (v["x"][:, 0] > 8),
    "unsqueezed": lambda v: (v["x"][:, 0] > 30).unsqueeze(1) & (v["x"] < -2),
    "of a factor": lambda v: (v["x"] > 99) * (v["x"].flip(1) < -99),
    "behind a function": lambda v: torch.sigmoid(v["x"]).prod(1) > 0.97,
}


@pytest.mark.parametrize("name", RULES)
def test_a_rule_that_no_random_row_fulfils(name: str) -> None:
    rule = RULES[name]
    values = {key: torch.from_numpy(array) for key, array in START.items()}
    assert not rule(values).any()
    found = sought(rule)
    assert found is not None
    assert rule({key: torch.from_numpy(array) for key, array in found.items()}).any()
    for entry in INPUTS:
        low, high = entry.range or (-np.inf, np.inf)
        assert ((found[entry.name] >= low) & (found[entry.name] <= high)).all()


def test_the_other_side_of_a_rule() -> None:
    rule: Rule = lambda v: (v["x"] < 50) | (v["x"] > 60)  # noqa: E731
    found = sought(rule, Side.FALSE)
    assert found is not None
    assert not rule({"x": torch.from_numpy(found["x"])}).all()


@pytest.mark.parametrize(
    ("rule", "at_edge"),
    [
        (lambda v: v["x"] * 4 > 10, lambda v: v["x"] == 2.5),
        (lambda v: v["n"] + v["m"] >= 1000, lambda v: v["n"] + v["m"] == 1000),
    ],
)
def test_the_edge_of_a_comparison(rule: Rule, at_edge: Rule) -> None:
    found = sought(rule, Side.EDGE)
    assert found is not None
    assert at_edge({name: torch.from_numpy(array) for name, array in found.items()}).any()


@pytest.mark.parametrize(
    ("function", "reached", "place"),
    [
        (lambda x: x.clamp(-3, 700), lambda x: x > 700, 1),
        (lambda x: x.clamp(min=-900), lambda x: x < -900, 0),
        (lambda x: torch.minimum(x, torch.tensor(400.0)), lambda x: x > 400, 0),
        (lambda x: torch.nn.functional.hardtanh(x, -20, 20), lambda x: x < -20, 0),
        (lambda x: (x * 5).round(), lambda x: (x * 5) % 2 == 0.5, 0),
        (lambda x: (x * 5).round(), lambda x: (x * 5) % 2 == 1.5, 1),
        (lambda x: torch.round(x * 15 / 250), lambda x: x * 15 / 250 % 2 == 0.5, 0),
        (
            lambda x: (x[:, :, None] - torch.tensor([0.0, 4.0])).square().argmin(2),
            lambda x: x == 2,
            0,
        ),
        (lambda x: x.argmax(1), lambda x: x.sort(1).values.diff()[:, -1] == 0, 0),
        (lambda x: (x + 180) % 360, lambda x: (x + 180) % 360 == 0, 0),
    ],
)
def test_what_clamping_and_rounding_compare(
    function: Callable[[torch.Tensor], torch.Tensor],
    reached: Callable[[torch.Tensor], torch.Tensor],
    place: int,
) -> None:
    found = sought(lambda v: function(v["x"]), place=place)
    assert found is not None
    assert reached(torch.from_numpy(found["x"])).any()


@pytest.mark.parametrize(
    "rule",
    [
        lambda v: (v["n"][:, None] // 86 == LISTED).any(1),
        lambda v: torch.isin(v["n"] // 86, LISTED),
        lambda v: torch.bucketize(v["n"] // 86, LISTED),
    ],
)
def test_each_element_of_a_list(rule: Rule) -> None:
    run, seen = runner(rule), Seen()
    seen.add(run(START))
    wishes = [wish for wish in seen.missing() if wish.column is not None]
    assert [wish.column for wish in wishes] == [2, 1, 0]
    for wish in wishes:
        conditions = run(START)
        way = ways_to(conditions, wish, elements_near(conditions, wish)[0])[0]
        found = solve(run, START, always(single_elements(INPUTS, START)), way)
        assert found is not None
        assert LISTED[wish.column] in found["n"] // 86
        seen.add(run(found))
    assert not [wish for wish in seen.missing() if wish.column is not None]


def test_what_no_input_fulfils_is_given_up() -> None:
    assert sought(lambda v: v["x"] * 0 > 1) is None
    assert sought(lambda v: (v["x"] > 3) & (v["x"] < 2)) is None
    assert sought(lambda v: v["n"] > 200000) is None


def test_a_little_below_and_above_an_edge() -> None:
    rule: Rule = lambda v: v["x"].sum(1) > 500  # noqa: E731
    for side, low, high in ((Side.BELOW, 499, 500), (Side.ABOVE, 500, 501)):
        found = sought(rule, side)
        assert found is not None
        sums = found["x"].sum(1)
        assert ((sums > low) & (sums < high)).any()


def test_sides_that_occurred_where_they_decide_are_no_longer_missing() -> None:
    rule: Rule = lambda v: (v["n"] > 50) & (v["m"] < 60)  # noqa: E731
    run, seen = runner(rule), Seen()

    def missing() -> set[tuple[int, Side]]:
        return {(wish.place, wish.side) for wish in seen.missing()}

    edges = {(place, side) for place in (0, 1) for side in (Side.EDGE, Side.BELOW, Side.ABOVE)}
    seen.add(run(START))
    sides = {(2, Side.TRUE), (1, Side.TRUE), (1, Side.FALSE), (0, Side.TRUE)}
    assert missing() == edges | sides
    seen.add(run({**START, "n": np.array([50, 51]), "m": np.array([60, 0])}))
    assert missing() == edges - {(0, Side.ABOVE)} | {(1, Side.FALSE)}
    seen.add(run({**START, "n": np.array([50, 51]), "m": np.array([59, 60])}))
    assert missing() == edges - {(0, Side.ABOVE), (0, Side.EDGE), (1, Side.EDGE)}


DECIDING: dict[str, tuple[Rule, list[bool]]] = {
    "and": (lambda v: (v["n"] > 50) & (v["m"] < 60), [True, False]),
    "or": (lambda v: (v["n"] > 50) | (v["m"] < 60), [False, True]),
    "not": (lambda v: ~((v["n"] > 50) & (v["m"] < 60)), [True, False]),
    "alone": (lambda v: v["n"] > 50, [True, True]),
    "of one more dim": (lambda v: (v["n"] > 50)[:, None] & (v["x"] > 0.9), [False, True]),
    "moved": (lambda v: (v["n"] > 50).flip(0).unsqueeze(0), [True, True]),
    "all": (lambda v: (v["n"] > 5).all(), [False, True]),
    "any": (lambda v: (v["n"] > 5).any(), [True, False]),
}


@pytest.mark.parametrize("name", DECIDING)
def test_where_a_comparison_decides(name: str) -> None:
    rule, expected = DECIDING[name]
    assert decisive(runner(rule)(START))[0].tolist() == expected


JOINT: dict[str, tuple[Rule, int, Side, Rule]] = {
    "the next day": (
        lambda v: (
            (v["n"] % 1440 >= 1080)
            & (v["m"] % 1440 <= 360)
            & (v["m"] // 1440 - v["n"] // 1440 == 1)
        ),
        3,
        Side.EDGE,
        lambda v: (
            (v["n"] % 1440 >= 1080)
            & (v["m"] % 1440 == 360)
            & (v["m"] // 1440 - v["n"] // 1440 == 1)
        ),
    ),
    "an edge beside two conditions": (
        lambda v: (v["n"] % 1440 >= 1080) & (v["m"] % 1440 <= 360) & (v["x"].sum(1) > 7),
        3,
        Side.EDGE,
        lambda v: (v["n"] % 1440 >= 1080) & (v["m"] % 1440 == 360) & (v["x"].sum(1) > 7),
    ),
    "false beside true": (
        lambda v: (v["n"] > 1000) & ~(v["m"] > 2000) & (v["x"].sum(1) > 40),
        1,
        Side.TRUE,
        lambda v: (v["n"] > 1000) & (v["m"] > 2000) & (v["x"].sum(1) > 40),
    ),
}


@pytest.mark.parametrize("name", JOINT)
def test_a_side_is_sought_where_it_decides(name: str) -> None:
    rule, place, side, reached = JOINT[name]
    found = sought(rule, side, place)
    assert found is not None
    assert reached({key: torch.from_numpy(array) for key, array in found.items()}).any()


LARGE = [
    Input.model_validate({"name": "x", "dtype": "float32", "shape": [3, 12, 12], "range": [0, 1]}),
    Input.model_validate({"name": "n", "dtype": "int64", "shape": [200], "range": [0, 3]}),
]
BOARD = [Input.model_validate({"name": "b", "dtype": "int64", "shape": [2, 8], "range": [0, 12]})]
COUNTED: dict[str, Rule] = {
    "two kings": lambda v: (
        ((v["b"] != 0).sum(1) == 2) & (v["b"] == 6).any(1) & (v["b"] == 12).any(1)
    ),
    "of numbers": lambda v: (v["b"] > 10).float().sum(1, keepdim=True) >= 7,
    "of all": lambda v: torch.count_nonzero(v["b"] == 5) > 14,
    "few": lambda v: (v["b"] <= 11).sum(-1) < 2,
}


@pytest.mark.parametrize("name", COUNTED)
def test_a_rule_on_a_count(name: str) -> None:
    rule = COUNTED[name]
    start = {"b": np.random.default_rng(0).integers(0, 13, (2, 8))}
    run = runner(rule)
    conditions = run(start)
    wish = Wish(len(conditions) - 1, conditions[-1].op, Side.TRUE)
    ways = ways_to(conditions, wish, 0)
    solutions = (solve(run, start, always(single_elements(BOARD, start)), way) for way in ways)
    found = next(found for found in solutions if found is not None)
    assert rule({"b": torch.from_numpy(found["b"])}).any()


def test_a_sum_that_is_exactly_equal_to_a_limit() -> None:
    waiting: Rule = lambda v: v["x"].cumsum(1) * 0.5 <= 20.0  # noqa: E731
    found = sought(waiting, Side.EDGE)
    assert found is not None
    assert (torch.from_numpy(found["x"]).cumsum(1) * 0.5 == 20.0).any()


MOTIF = torch.tensor([3, 0, 3, 0, 0, 2, 1, 1])
LARGE_RULES: dict[str, Rule] = {
    "a mean": lambda v: v["x"].mean((1, 2)) > 0.93,
    "a band of a mean": lambda v: (v["x"].mean() < 0.031) & (v["x"].mean() > 0.03),
    "channels apart": lambda v: (
        (v["x"][1].mean() - v["x"][0].mean() > 0.7) & (v["x"][2].mean() < 0.1)
    ),
    "a variance": lambda v: (v["x"].var() < 1e-5) & (v["x"].mean() > 0.3),
    "one row": lambda v: (v["x"][1, 7] > 0.99).all() & (v["x"][1, 7].sum() < 11.95),
    "a pattern": lambda v: (v["n"].unfold(0, 8, 1) == MOTIF).all(-1),
    "a sum of integers": lambda v: v["n"].sum() == 587,
}


@pytest.mark.parametrize("name", LARGE_RULES)
def test_a_rule_on_more_numbers_than_are_moved_alone(name: str) -> None:
    rule, rng = LARGE_RULES[name], np.random.default_rng(3)
    start = {"x": rng.uniform(0, 1, (3, 12, 12)).astype("f4"), "n": rng.integers(0, 4, 200)}
    run = runner(rule)
    conditions = run(start)
    assert not rule({key: torch.from_numpy(array) for key, array in start.items()}).any()
    wish = Wish(len(conditions) - 1, conditions[-1].op, Side.TRUE)
    solutions = []
    for element in elements_near(conditions, wish):
        for way in ways_to(conditions, wish, element):
            directions = effective(LARGE, start, differences_of(run, way))
            solutions.append(solve(run, start, directions, way))
    found = next(found for found in solutions if found is not None)
    assert rule({key: torch.from_numpy(array) for key, array in found.items()}).any()
    assert found["x"].min() >= 0
    assert found["x"].max() <= 1


def _differing(mask: torch.Tensor) -> torch.Tensor:
    return mask[:, 1:] ^ mask[:, :-1]


SLICED: dict[str, Rule] = {
    "the first left out": lambda v: (v["x"] >= 0)[:, 1:].sum(1),
    "neighbours": lambda v: (v["x"] >= 0)[:, 1:] & (v["x"] >= 0)[:, :-1],
    "neighbours of one mask": lambda v: _differing(v["x"] > 0.5),
    "one row": lambda v: (v["n"] > 50)[0] | (v["m"] > 50)[1],
    "nothing": lambda v: (v["x"] > 0)[:0].any(1) & (v["n"] > 3)[:0],
    "picked": lambda v: (v["x"] > 0)[:, [2, 0]].all(1),
}


@pytest.mark.parametrize("name", SLICED)
def test_elements_that_a_slice_leaves_out(name: str) -> None:
    """They decide nothing there; other parts of the rule may take them."""
    conditions = runner(SLICED[name])(START)
    assert conditions
    for place, condition in enumerate(conditions):
        for side in Side:
            wish = Wish(place, condition.op, side)
            for element in range(condition.result.numel()):
                ways_to(conditions, wish, element)
            elements_near(conditions, wish)


def test_kinks_are_wished_for_last_and_have_no_edges() -> None:
    """A network has one for each layer."""

    def rule(values: Tensors) -> torch.Tensor:
        return torch.relu(values["x"] - 9e4) + torch.where(values["x"] > 5e4, 1, 0)

    seen = Seen()
    seen.add(runner(rule)(START))
    wishes = seen.missing()
    assert [wish.side for wish in wishes if wish.place == 0] == [Side.TRUE]
    assert wishes[-1].place == 0
    found = sought(lambda values: torch.relu(values["x"] - 9e4))
    assert found is not None
    assert found["x"].max() > 9e4
