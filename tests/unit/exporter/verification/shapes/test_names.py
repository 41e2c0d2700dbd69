"""Names of output sizes after the dims of the inputs."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import pytest

from modelexport_exporter.verification.shapes.names import Observation, name_of

SIZES = [{"n": n, "m": m} for n, m in product((1, 2, 5, 8, 13, 20), (1, 3, 4, 10))]


def observed(size: Callable[[int, int], int]) -> list[Observation]:
    return [(sizes, size(sizes["n"], sizes["m"])) for sizes in SIZES]


@pytest.mark.parametrize(
    ("size", "name"),
    [
        (lambda n, _: n, "n"),
        (lambda _, m: m, "m"),
        (lambda n, _: 2 * n, "2*n"),
        (lambda n, _: n + 1, "n + 1"),
        (lambda n, _: 3 * n - 2, "3*n - 2"),
        (lambda n, _: n // 2, "n//2"),
        (lambda n, _: -(-n // 4), "(n + 3)//4"),
        (lambda n, m: n + m, "n + m"),
        (lambda n, m: n * m, "n*m"),
        (lambda _n, _m: 4, None),
        (lambda n, _: min(n, 15), None),
        (lambda n, _: 1000 * n, None),
        (lambda n, m: n if m > 3 else 0, None),
        (lambda n, _: 21 - n, None),
    ],
)
def test_name(size: Callable[[int, int], int], name: str | None) -> None:
    assert name_of(observed(size)) == name


def test_one_size_confirms_nothing() -> None:
    assert name_of([({"n": 3}, 3)]) is None
    assert name_of([({"n": 3, "m": 1}, 3), ({"n": 3, "m": 2}, 3)]) is None


def test_two_sizes_confirm_a_dim_and_no_expression() -> None:
    assert name_of([({"n": 3}, 3), ({"n": 5}, 5)]) == "n"
    assert name_of([({"n": 3}, 6), ({"n": 5}, 10)]) is None


def test_dims_that_are_always_equal_are_not_told_apart() -> None:
    assert name_of([({"n": size, "m": size}, size) for size in (1, 2, 3)]) is None


def test_a_size_that_differs_between_equal_inputs_has_no_name() -> None:
    assert name_of([({"n": 3}, 3), ({"n": 5}, 5), ({"n": 5}, 4)]) is None


def test_no_dims() -> None:
    assert name_of([({}, 3), ({}, 5)]) is None
