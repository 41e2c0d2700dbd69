"""What the verdict says of the sizes that ran is what ran."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from exporter.verification.limited_models import CODE, entry, outcome
from modelexport_api.status import Verdict
from modelexport_exporter.verification.samples import time_shares
from modelexport_exporter.workers import one_verification
from models.catalog import small_model
from models.exporting import forget_user_code


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    yield
    forget_user_code()


def test_all_sizes_of_a_fast_model_ran(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(one_verification, "TIME_BUDGET_SECONDS", 600.0)
    monkeypatch.setattr(time_shares, "EVERY_SIZE_SECONDS", 600.0)
    model = small_model(CODE, "Ranked", entry("x", "n", 12), n=(1, 120))
    found = outcome(model, tmp_path, None)
    assert found.summary.verdict is Verdict.VERIFIED
    assert "all 120 sizes of n" in found.summary.coverage
    assert {sample.dims["n"] for sample in found.samples} == set(range(1, 121))


def test_some_sizes_of_many_ran(tmp_path: Path) -> None:
    model = small_model(CODE, "Ranked", entry("x", "n", 12), n=(1, 100_000))
    found = outcome(model, tmp_path, None)
    ran = {sample.dims["n"] for sample in found.samples}
    sizes, *_others = found.summary.coverage
    assert sizes.startswith(f"{len(ran)} of 100000 sizes of n")
