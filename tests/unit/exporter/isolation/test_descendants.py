"""Which processes are below another, and not below one that is spared."""

from __future__ import annotations

import pytest

from modelexport_exporter.isolation.descendants import below

SERVER, WORKER, OTHER = 10, 20, 30
PARENTS = {
    SERVER: 1,
    WORKER: SERVER,
    21: WORKER,
    OTHER: SERVER,
    31: OTHER,
    40: SERVER,
    41: 40,
    5: 1,
}


@pytest.mark.parametrize(
    ("root", "spared", "found"),
    [
        (SERVER, [], {WORKER, 21, OTHER, 31, 40, 41}),
        (SERVER, [WORKER], {OTHER, 31, 40, 41}),
        (SERVER, [WORKER, OTHER], {40, 41}),
        (41, [], set()),
        (99, [], set()),
        (1, [SERVER], {5}),
    ],
)
def test_below(root: int, spared: list[int], found: set[int]) -> None:
    assert below(root, PARENTS, spared) == found


def test_a_circle_ends() -> None:
    """Numbers are used again while /proc is read."""
    assert below(2, {2: 3, 3: 2}) == {2, 3}
