"""Progress and counts from the pods' logs, which also contain output of libraries."""

from __future__ import annotations

import json

from modelexport_api.status import Progress, Stage
from modelexport_operator.pods import LogTail
from modelexport_operator.progress import PODS_PER_TURN, TrackedExport, parse_tail
from unit.operator.objects import of_index, result_of, running, share, terminated


def line(stage: Stage | None = None, percent: int = 0, **fields: object) -> str:
    progress = {"stage": stage, "percent": percent} if stage else None
    entry = {"time": "t", "level": "info", "message": "m", "fields": fields, "progress": progress}
    return json.dumps(entry)


def test_the_last_progress_and_peak_are_used() -> None:
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


def test_impossible_peaks_are_ignored() -> None:
    """The model's own code writes to the same log."""
    text = "\n".join([line(peakMemoryBytes=300), line(peakMemoryBytes=10**400)])
    assert parse_tail(text).peak_memory_bytes == 300


def test_a_log_without_progress_is_empty() -> None:
    assert parse_tail("Segmentation fault\n{}\n") == LogTail()


def test_the_last_possible_counts_of_a_share_are_used() -> None:
    forged = share(0, 2).model_copy(update={"succeeded": 99})
    reported = [share(0, 1), share(0, 2), forged]
    lines = [json.dumps({**json.loads(line()), "share": s.to_wire()}) for s in reported]
    assert parse_tail("\n".join(lines)).share == share(0, 2)


def tracked() -> TrackedExport:
    return TrackedExport("ml", "folds", None, None, 0.0)


VERIFYING = Progress(stage=Stage.VERIFY, percent=80)


def test_counts_of_running_and_ended_pods_are_summed() -> None:
    export = tracked()
    export.update_pods((of_index(0, running()), of_index(1, terminated(0, result_of(share(1, 2))))))
    (pod,) = export.next_pods()
    export.update_log(pod, LogTail(VERIFYING, share=share(0, 1, running=1)))
    progress, counts = export.current()
    assert counts is not None
    assert (counts.total, counts.succeeded, counts.running) == (5, 3, 1)
    assert progress is not None
    assert (progress.stage, progress.percent) == (Stage.VERIFY, 60)


def test_counts_of_a_killed_pod_are_used_until_the_next_pod_reports() -> None:
    export = tracked()
    first = of_index(0, running())
    export.update_pods((first,))
    export.update_log(first.name, LogTail(VERIFYING, share=share(0, 1, running=1)))
    second = of_index(0, running(), before=1)
    export.update_pods((of_index(0, terminated(137)), second))
    _, counts = export.current()
    assert counts is not None
    assert (counts.succeeded, counts.running) == (1, 0)
    export.update_log(second.name, LogTail(VERIFYING, share=share(0, 1, running=1)))
    _, counts = export.current()
    assert counts is not None
    assert (counts.succeeded, counts.running) == (1, 1)


def test_the_pods_of_a_large_batch_are_read_in_turns() -> None:
    export = tracked()
    export.update_pods(tuple(of_index(index, running()) for index in range(20)))
    turns = [export.next_pods() for _ in range(3)]
    assert [len(turn) for turn in turns] == [PODS_PER_TURN] * 3
    assert {pod for turn in turns for pod in turn} == set(export.running)


def test_a_single_export_has_the_progress_of_its_pod() -> None:
    export = tracked()
    export.update_pods((running(),))
    export.update_log(running().name, LogTail(VERIFYING))
    assert export.current() == (VERIFYING, None)
