"""The work queue, with a simulated clock."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelexport_operator.queue import LONGEST_PAUSE, Schedule, WorkQueue


def drain(schedule: Schedule, now: float) -> list[str]:
    taken = []
    while (key := schedule.take(now)) is not None:
        taken.append(key)
        schedule.done(key, now)
    return taken


def test_keys_are_taken_in_order_of_their_due_times() -> None:
    schedule = Schedule()
    schedule.add("late", 5)
    schedule.add("early", 1)
    schedule.add("next", 2)
    assert drain(schedule, 4) == ["early", "next"]
    assert schedule.next_due() == 5


def test_a_key_is_queued_once_at_its_earliest_due_time() -> None:
    schedule = Schedule()
    for when in (3, 1, 2):
        schedule.add("a", when)
    assert drain(schedule, 10) == ["a"]


def test_a_key_added_while_in_progress_is_taken_afterwards() -> None:
    schedule = Schedule()
    schedule.add("a", 0)
    assert schedule.take(0) == "a"
    schedule.add("a", 1)
    schedule.add("b", 1)
    assert schedule.take(1) == "b"
    assert schedule.take(1) is None
    schedule.done("a", 1)
    assert schedule.take(1) == "a"


def test_backoff_doubles_up_to_a_limit_and_is_reset() -> None:
    schedule = Schedule()
    pauses = [schedule.add_failed("a", 0) for _ in range(12)]
    assert pauses[:4] == [0.5, 1, 2, 4]
    assert pauses[-1] == LONGEST_PAUSE
    schedule.forget_failures("a")
    assert schedule.add_failed("a", 0) == 0.5


def test_the_age_of_the_oldest_key_includes_keys_in_progress() -> None:
    schedule = Schedule()
    schedule.add("a", 0)
    schedule.add("later", 100)
    assert schedule.oldest(7) == 7
    schedule.take(7)
    assert schedule.oldest(10) == 3
    schedule.done("a", 10)
    assert schedule.oldest(10) == 0


def test_a_thousand_keys_of_a_namespace_do_not_delay_the_one_of_another() -> None:
    schedule = Schedule(group_of=lambda key: key.partition("/")[0])
    for number in range(1_000):
        schedule.add(f"busy/{number:03}", 0)
    schedule.add("quiet/a", 1)
    schedule.add("other/a", 1)
    assert [schedule.take(1) for _ in range(4)] == ["busy/000", "quiet/a", "other/a", "busy/001"]


@pytest.mark.parametrize(
    ("finished", "stalled"),
    [(None, 100), (50, 50), (99, 1)],
    ids=["nothing has finished", "the last one 50 s ago", "a backlog, but progress"],
)
def test_a_backlog_is_no_stall(finished: float | None, stalled: float) -> None:
    schedule = Schedule()
    for key in "abc":
        schedule.add(key, 0)
    if finished is not None:
        taken = schedule.take(0)
        assert taken is not None
        schedule.done(taken, finished)
    assert schedule.oldest(100) == 100
    assert schedule.stalled(100) == stalled


def test_nothing_due_is_no_stall() -> None:
    schedule = Schedule()
    schedule.add("later", 1_000)
    assert schedule.stalled(900) == 0


def test_a_backlog_is_what_is_due_and_not_taken() -> None:
    schedule = Schedule()
    schedule.add("later", 10)
    schedule.add("a", 0)
    assert schedule.has_backlog(0)
    assert schedule.take(0) == "a"
    assert not schedule.has_backlog(0)
    assert schedule.has_backlog(10)


def test_outdated_entries_do_not_accumulate() -> None:
    schedule = Schedule()
    for when in range(10_000, 0, -1):
        schedule.add("a", when)
    assert len(schedule._heap) < 100


keys = st.sampled_from("abcd")
steps = st.lists(
    st.tuples(st.sampled_from(["add", "take", "done", "fail"]), keys, st.floats(0, 5)), max_size=60
)


@given(steps)
def test_no_key_is_lost_or_processed_twice_at_a_time(found: list[tuple[str, str, float]]) -> None:
    schedule, now = Schedule(), 0.0
    owed: set[str] = set()
    working: set[str] = set()
    for step, key, delay in found:
        now += 0.1
        if step == "add":
            schedule.add(key, now + delay)
            owed.add(key)
        elif step == "fail":
            schedule.add_failed(key, now)
            owed.add(key)
        elif step == "take" and (taken := schedule.take(now)) is not None:
            assert taken not in working
            working.add(taken)
            owed.discard(taken)
        elif step == "done" and key in working:
            schedule.done(key, now)
            working.discard(key)
    for key in working:
        schedule.done(key, now)
    assert set(drain(schedule, now + 1_000)) == owed


def test_a_worker_sleeps_until_a_key_is_due() -> None:
    async def scenario() -> list[str]:
        now = 0.0
        queue = WorkQueue(lambda: now)
        worker = asyncio.create_task(queue.take())
        await asyncio.sleep(0)
        assert not worker.done()
        queue.add("a")
        first = await worker
        queue.add("b", after=0.0)
        return [first, await queue.take()]

    assert asyncio.run(scenario()) == ["a", "b"]


def test_probes_are_answered_between_due_keys() -> None:
    async def scenario() -> int:
        queue, taken = WorkQueue(lambda: 0.0), 0

        async def work() -> None:
            nonlocal taken
            while True:
                queue.done(await queue.take())
                taken += 1

        for number in range(1_000):
            queue.add(str(number))
        workers = [asyncio.create_task(work()) for _ in range(4)]
        for _ in range(3):  # a probe suspends a few times
            await asyncio.sleep(0)
        for worker in workers:
            worker.cancel()
        return taken

    assert asyncio.run(scenario()) < 20
