"""The truth of conditions on sizes at all declared sizes."""

from __future__ import annotations

import pytest

from modelexport_exporter.convert.size_expressions import at_all_sizes

N, M = range(3, 100), range(1, 9)


@pytest.mark.parametrize(
    ("condition", "sizes", "truth"),
    [
        ("(n - 3)//2 + 1 == (n - 1)//2", {"n": N}, True),
        ("(n + (-n) % 4) % 4 == 0", {"n": N}, True),
        ("n*m//m != n", {"n": N, "m": M}, False),
        ("n == 50", {"n": N}, None),
        ("n > m", {"n": N, "m": M}, None),
        ("n + 9 > m and not m > 8", {"n": N, "m": M}, True),
        ("max(n, m) >= n", {"n": N, "m": M}, True),
        ("math.floor(math.sqrt(n*n)) == n", {"n": N}, True),
        ("unknown(n) == 1", {"n": N}, None),
    ],
)
def test_truth(condition: str, sizes: dict[str, range], truth: bool | None) -> None:
    assert at_all_sizes(condition, sizes) is truth
