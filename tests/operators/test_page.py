"""The pages on the operators of torch's database."""

from __future__ import annotations

from pathlib import Path

import pytest

from operators import page
from operators.results import Case, Outcome, Result

RIGHT, REFUSED, RANDOM = Outcome.RIGHT, Outcome.REFUSED, Outcome.RANDOM
RESULTS = [
    Result(Case("add", "float32"), 0, RIGHT, "", RIGHT),
    Result(Case("add", "float32"), 1, RIGHT, "", Outcome.WRONG),
    Result(Case("svd", "float32"), 0, REFUSED, "UnsupportedOperator: no translation", REFUSED),
    Result(Case("rand_like", "float32"), 0, RANDOM, "", RANDOM),
    Result(Case("add", "float32", dynamic=True), 0, Outcome.WRONG, "output 0: differs", RIGHT),
    Result(Case("svd", "float32", dynamic=True), 0, Outcome.NO_DIM, "", Outcome.NO_DIM),
]


def test_each_form_has_a_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "PAGE", tmp_path / "operators.md")
    page.write_pages(RESULTS, 6)
    first = (tmp_path / "operators.md").read_text()
    assert "2 operators in float32, 3 calls" in first
    assert "| add | 2 |  |  | 1 · 0 · 1 |  |" in first
    assert "| svd |  | 1 |  | 0 · 1 · 0 | UnsupportedOperator: float32 1; LAPACK" in first
    assert "memory as it is: `rand_like`." in first
    assert "[float32 dynamic](operators-float32-dynamic.md)" in first
    other = (tmp_path / "operators-float32-dynamic.md").read_text()
    assert "| add |  |  | 1 | 1 · 0 · 0 | wrong: float32 dynamic 1 |" in other
    assert "Takes no other size: `svd`." in other
