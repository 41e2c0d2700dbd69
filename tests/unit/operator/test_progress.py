"""What a pod's log tells, whatever a library prints in between."""

from __future__ import annotations

import json

from modelexport_api.status import Progress, Stage
from modelexport_operator.pods import LogTail
from modelexport_operator.progress import PODS_A_TURN, Followed, parse_tail
from unit.operator.objects import of_index, running, share, terminated, told


def line(stage: Stage | None = None, percent: int = 0, **fields: object) -> str:
    progress = {"stage": stage, "percent": percent} if stage else None
    entry = {"time": "t", "level": "info", "message": "m", "fields": fields, "progress": progress}
    return json.dumps(entry)


def test_the_last_progress_and_the_last_peak_count() -> None:
    text = "\n".join(
        [
            line(Stage.LOAD, 20, peakMemoryBytes=100),
            "UserWarning: something",
            line(Stage.VERIFY, 80),
            line(peakMemoryBytes=300),
            '{"time": "t", "level": "info", "mess',
        ]
    )
    assert parse_tail(text) == LogTail(Progress(stage=Stage.VERIFY, percent=80), 300)


def test_a_peak_that_is_no_memory_is_ignored() -> None:
    """The model's own code writes to the same log."""
    text = "\n".join([line(peakMemoryBytes=300), line(peakMemoryBytes=10**400)])
    assert parse_tail(text).peak_memory_bytes == 300


def test_a_log_without_a_word_for_us_tells_nothing() -> None:
    assert parse_tail("Segmentation fault\n{}\n") == LogTail()


def test_the_last_counts_of_a_share_are_told_and_forged_ones_are_not() -> None:
    forged = share(0, 2).model_copy(update={"succeeded": 99})
    told_of = [share(0, 1), share(0, 2), forged]
    lines = [json.dumps({**json.loads(line()), "share": s.to_wire()}) for s in told_of]
    assert parse_tail("\n".join(lines)).share == share(0, 2)


def followed() -> Followed:
    return Followed("ml", "folds", None, None, 0.0)


VERIFYING = Progress(stage=Stage.VERIFY, percent=80)


def test_all_pods_of_a_batch_are_summed_those_that_are_over_as_well() -> None:
    known = followed()
    known.take((of_index(0, running()), of_index(1, terminated(0, told(share(1, 2))))))
    (pod,) = known.next_pods()
    known.hear(pod, LogTail(VERIFYING, share=share(0, 1, running=1)))
    progress, counts = known.now()
    assert counts is not None
    assert (counts.total, counts.succeeded, counts.running) == (5, 3, 1)
    assert progress is not None
    assert (progress.stage, progress.percent) == (Stage.VERIFY, 60)


def test_what_a_killed_pod_had_said_counts_until_the_next_one_speaks() -> None:
    known = followed()
    first = of_index(0, running())
    known.take((first,))
    known.hear(first.name, LogTail(VERIFYING, share=share(0, 1, running=1)))
    second = of_index(0, running(), before=1)
    known.take((of_index(0, terminated(137)), second))
    _, counts = known.now()
    assert counts is not None
    assert (counts.succeeded, counts.running) == (1, 0)
    known.hear(second.name, LogTail(VERIFYING, share=share(0, 1, running=1)))
    _, counts = known.now()
    assert counts is not None
    assert (counts.succeeded, counts.running) == (1, 1)


def test_the_pods_of_a_large_batch_are_read_in_turns() -> None:
    known = followed()
    known.take(tuple(of_index(index, running()) for index in range(20)))
    turns = [known.next_pods() for _ in range(3)]
    assert [len(turn) for turn in turns] == [PODS_A_TURN] * 3
    assert {pod for turn in turns for pod in turn} == set(known.running)


def test_the_progress_of_one_export_is_its_pods() -> None:
    known = followed()
    known.take((running(),))
    known.hear(running().name, LogTail(VERIFYING))
    assert known.now() == (VERIFYING, None)
