"""How long finished exports are kept."""

from __future__ import annotations

from datetime import timedelta

import pytest

from modelexport_operator import ttl
from unit.operator.objects import NOW, at, resource


@pytest.mark.parametrize("kind", ["Complete", "Failed"])
@pytest.mark.parametrize(
    ("seconds", "age", "left"),
    [(100, 0, 100), (100, 99, 1), (100, 100, 0), (100, 5000, 0), (0, 0, 0), (None, 5000, None)],
)
def test_the_ttl_counts_from_the_end(
    kind: str, seconds: int | None, age: float, left: int | None
) -> None:
    stamp = {"type": kind, "status": "True", "reason": "X", "lastTransitionTime": NOW.isoformat()}
    spec = {} if seconds is None else {"ttlSecondsAfterFinished": seconds}
    found = ttl.remaining(resource(spec, {"conditions": [stamp]}), at(age))
    assert found == (None if left is None else timedelta(seconds=left))


def test_an_unfinished_export_is_kept() -> None:
    assert ttl.remaining(resource({"ttlSecondsAfterFinished": 0}), at(5000)) is None
