import pytest

from chaos.attacks.cases import CASES
from chaos.attacks.part import opened


@pytest.fixture(scope="module")
def attacked(s3):
    with opened(s3) as found:
        yield found


@pytest.mark.parametrize(
    "case",
    [c for c in CASES if c.group.startswith("the verdict") or c.name.startswith("by role")],
    ids=lambda c: c.name,
)
def test_it(case, attacked):
    assert attacked.attack(case) == []
