"""The ledger: no completion is processed twice, and its size is limited."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from modelexport_api.trigger import ModelExportTriggerStatus
from modelexport_operator.triggers.completion import Completion
from modelexport_operator.triggers.ledger import AGE, KEPT, LIMIT, add_entries, entry, is_done, when

START = datetime(2026, 5, 1, tzinfo=UTC)
EMPTY = ModelExportTriggerStatus()


def at(seconds: int, uid: str | None = None) -> str:
    completed = Completion(START + timedelta(seconds=seconds))
    return entry(uid or f"uid-{seconds}", completed)


def test_an_entry_contains_the_time_and_a_digest_of_the_object() -> None:
    assert when(at(5)) == START + timedelta(seconds=5)
    assert "uid" not in at(5)
    assert at(5, "a") != at(5, "b")
    assert entry("a", Completion(START, "run-1")) != entry("a", Completion(START, "run-2"))


def test_a_recorded_completion_is_done() -> None:
    assert not is_done(EMPTY, at(5))
    assert is_done(add_entries(EMPTY, [at(5)]), at(5))


def test_an_object_whose_time_changes_stays_done() -> None:
    assert is_done(add_entries(EMPTY, [at(5, "a")]), at(99, "a"))


def test_few_entries_are_kept_regardless_of_age() -> None:
    status = add_entries(EMPTY, [at(3600 * n) for n in range(KEPT)])
    assert status.processed_until is None
    assert len(status.processed) == KEPT


def test_old_entries_above_the_limit_are_replaced_by_a_time() -> None:
    status = add_entries(EMPTY, [at(60 * n) for n in range(1000)])
    assert len(status.processed) == KEPT
    assert status.processed_until == START + timedelta(minutes=799)
    assert is_done(status, at(60 * 500))


def test_entries_of_the_last_hour_are_kept_up_to_a_limit() -> None:
    storm = [at(n // 3, f"uid-{n}") for n in range(3000)]
    assert len(add_entries(EMPTY, storm).processed) == 3000
    flood = [at(n // 3, f"uid-{n}") for n in range(LIMIT + 100)]
    assert len(add_entries(EMPTY, flood).processed) <= LIMIT


@given(st.lists(st.lists(st.integers(0, 50_000), max_size=150), max_size=6))
def test_recorded_completions_stay_done_and_the_ledger_stays_small(
    batches: list[list[int]],
) -> None:
    status, seen = EMPTY, []
    for batch in batches:
        status = add_entries(status, [at(n) for n in batch])
        seen += batch
        assert all(is_done(status, at(n)) for n in seen)
        young = [e for e in status.processed if when(status.processed[-1]) - when(e) <= AGE]
        assert len(status.processed) <= max(KEPT, len(young))


def test_later_completions_are_not_done() -> None:
    status = add_entries(EMPTY, [at(60 * n) for n in range(1000)])
    assert not is_done(status, at(60 * 999 + 1))
    assert not is_done(status, at(60 * 900 + 1, "late"))
