from __future__ import annotations

from typing import Any

import pytest

from modelexport_cli.cluster.errors import ClusterError
from modelexport_cli.cluster.pods import Pod, choose, observe_pod


def pod(name: str, created: str, index: int | None = None, *, ended: bool = False) -> Pod:
    return Pod(name, index, created, started=True, ended=ended, waiting="")


SINGLE = [pod("a", "1", ended=True), pod("b", "2")]
BATCH = [pod("a", "1", 0, ended=True), pod("b", "2", 0), pod("c", "1", 1)]


@pytest.mark.parametrize(
    ("pods", "index", "shares", "expected"),
    [
        ([], None, None, None),
        (SINGLE, None, None, "b"),
        ([pod("a", "1"), pod("b", "1", ended=True)], None, None, "a"),
        (BATCH, 0, 2, "b"),
        (BATCH, 1, 2, "c"),
        (BATCH, None, 1, "b"),
        (BATCH, 2, 3, None),
    ],
)
def test_the_latest_pod_is_chosen(
    pods: list[Pod], index: int | None, shares: int | None, expected: str | None
) -> None:
    found = choose(pods, index, shares=shares)
    assert (found.name if found else None) == expected


@pytest.mark.parametrize(
    ("pods", "index", "shares", "words"),
    [
        (SINGLE, 0, None, "has no shares"),
        (BATCH, None, 2, "Choose one by --index 0 to --index 1. Running: 0, 1."),
        (BATCH, 2, 2, "Choose 0 to 1."),
        (BATCH, -1, 2, "Choose 0 to 1."),
    ],
)
def test_an_unclear_choice_is_refused_with_the_choices(
    pods: list[Pod], index: int | None, shares: int | None, words: str
) -> None:
    with pytest.raises(ClusterError) as caught:
        choose(pods, index, shares=shares)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("status", "started", "ended", "waiting"),
    [
        ({}, False, False, ""),
        ({"containerStatuses": [{"name": "sidecar", "state": {"running": {}}}]}, False, False, ""),
        ({"containerStatuses": [{"name": "exporter", "state": {"running": {}}}]}, True, False, ""),
        (
            {"containerStatuses": [{"name": "exporter", "state": {"terminated": {}}}]},
            True,
            True,
            "",
        ),
        (
            {
                "containerStatuses": [
                    {
                        "name": "exporter",
                        "state": {"waiting": {"reason": "ErrImagePull", "message": "no"}},
                    }
                ]
            },
            False,
            False,
            "ErrImagePull: no",
        ),
        (
            {
                "conditions": [
                    {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
                ]
            },
            False,
            False,
            "Unschedulable",
        ),
        ({"phase": "Failed"}, False, True, ""),
    ],
)
def test_the_state_of_a_pod(
    status: dict[str, Any], started: bool, ended: bool, waiting: str
) -> None:
    metadata = {
        "name": "a",
        "creationTimestamp": "1",
        "annotations": {"batch.kubernetes.io/job-completion-index": "3"},
    }
    found = observe_pod({"metadata": metadata, "status": status})
    assert found == Pod("a", 3, "1", started, ended, waiting)
