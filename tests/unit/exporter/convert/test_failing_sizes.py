"""Sizes for which conditions are false, evaluated on arrays and one by one."""

from __future__ import annotations

import math
from itertools import product

import pytest

from modelexport_exporter.convert.failing_sizes import failing_sizes

SIZES = range(1, 41)


@pytest.mark.parametrize(
    ("expression", "holds"),
    [
        ("n*m != 391", lambda n, m: n * m != 391),
        ("((n + m) % 7) == 3 or n // m != 4", lambda n, m: (n + m) % 7 == 3 or n // m != 4),
        ("n / m <= 1.77", lambda n, m: n / m <= 1.77),
        ("0.7*torch.sym_float(n) < 20.5", lambda n, _: 0.7 * n < 20.5),
        (
            "math.trunc(0.58*torch.sym_float(n)) != 11 and not m == 3",
            lambda n, m: math.trunc(0.58 * n) != 11 and m != 3,
        ),
        ("max(n, 2*m, 5) <= 50", lambda n, m: max(n, 2 * m, 5) <= 50),
        ("(3 if n > m else 4) != 3", lambda n, m: n <= m),
        ("n.bit_length() < 6", lambda n, _: n.bit_length() < 6),
    ],
)
def test_as_python_evaluates(expression: str, holds: object) -> None:
    assert callable(holds)
    expected = {pair for pair in product(SIZES, SIZES) if not holds(*pair)}
    assert set(failing_sizes(expression, ("n", "m"), (SIZES, SIZES))) == expected


def test_a_rule_for_one_pair_of_millions_is_found() -> None:
    sizes = range(1, 4097)
    assert (3989, 2003) in failing_sizes("n*m != 7989967", ("n", "m"), (sizes, sizes))


def test_many_combinations_are_a_part_of_all() -> None:
    sizes = range(1, 5001)
    found = failing_sizes("a + b + c > 4", ("a", "b", "c"), (sizes, sizes, sizes))
    assert {(1, 1, 1), (1, 1, 2), (1, 2, 1), (2, 1, 1)} == set(found)
