"""The attacks that are fast and tell most; `python -m chaos attacks` makes all of them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bed.s3 import S3Server
from chaos.attacks.cases import CASES, Case, is_short
from chaos.attacks.part import Range, opened


@pytest.fixture(scope="module")
def attacked(s3: S3Server) -> Iterator[Range]:
    with opened(s3) as found:
        yield found


@pytest.mark.s3
@pytest.mark.parametrize(
    "case", [case for case in CASES if is_short(case)], ids=lambda case: case.name
)
def test_an_attack_breaks_no_promise(case: Case, attacked: Range) -> None:
    assert attacked.attack(case) == []
