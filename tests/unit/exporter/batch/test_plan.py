"""What a plan calls its checkpoints, and that there is only one."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from batches import batch
from modelexport_api.reasons import Reason
from modelexport_exporter.batch.plan import Plan, directory_of, make_plan, short_names
from modelexport_exporter.core.errors import ExportFailure


@pytest.mark.parametrize(
    ("uris", "names"),
    [
        (["s3://b/run/a.pt", "s3://b/run/b.pt"], ["a.pt", "b.pt"]),
        (["s3://b/fold-1/best.pt", "s3://b/fold-2/best.pt"], ["fold-1/best.pt", "fold-2/best.pt"]),
        (["s3://b/x/a.pt", "s3://b/a.pt"], ["x/a.pt", "a.pt"]),
        (["s3://one/a.pt", "s3://two/a.pt"], ["one/a.pt", "two/a.pt"]),
        (["s3://b/run/one/", "s3://b/run/two/"], ["one", "two"]),
        (["file:///d/my%20model.pt"], ["my model.pt"]),
        (["s3://b/100%20.pt"], ["100%20.pt"]),
    ],
)
def test_names_distinguish_checkpoints(uris: list[str], names: list[str]) -> None:
    assert short_names(uris) == names


def test_pods_that_begin_together_have_one_plan(tmp_path: Path) -> None:
    """Each lists something else, as when files are written meanwhile; one listing counts."""
    (tmp_path / "run").mkdir()
    source = {"uri": f"file://{tmp_path}/run/*.pt"}
    resource = batch(source, f"file://{tmp_path}/onnx/{{stem}}/", parallelism=4, uid="u")
    plans: list[Plan] = []
    start = threading.Barrier(8)

    def begin(number: int) -> None:
        (tmp_path / f"run/{number}.pt").write_bytes(b"x" * number)
        start.wait()
        (tmp_path / f"run/late-{number}.pt").write_bytes(b"")
        plans.append(make_plan(resource, 4).plan)

    pods = [threading.Thread(target=begin, args=(number,)) for number in range(8)]
    for pod in pods:
        pod.start()
    for pod in pods:
        pod.join()
    assert len(plans) == 8
    assert all(plan == plans[0] for plan in plans)
    assert make_plan(resource, 4).plan == plans[0]
    assert {item.share for item in plans[0].items} == set(range(4))


def test_what_is_no_plan_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "a.pt").write_bytes(b"")
    resource = batch({"uri": f"file://{tmp_path}/*.pt"}, f"file://{tmp_path}/{{stem}}/", uid="u")
    where = directory_of(resource).child("plan.json")
    where.store.write(where.key, b'{"planVersion": 2}')
    with pytest.raises(ExportFailure) as caught:
        make_plan(resource, 1)
    assert caught.value.reason is Reason.DESTINATION_EXISTS


def test_a_pattern_in_the_bucket_is_refused() -> None:
    with pytest.raises(ExportFailure, match="a pattern in its bucket"):
        make_plan(batch({"uri": "s3://buck*/a.pt"}, "s3://o/{stem}/"), 1)
