from __future__ import annotations

from pathlib import Path

import pytest

from modelexport_cli.cluster.export import Export
from modelexport_cli.cluster.recreation import (
    Nothing,
    Recreate,
    Resume,
    blockers,
    decide,
    record_path,
)
from modelexport_cli.cluster.request import Access
from unit.cli.cluster.objects import BATCH, complete, export, failed

PARTIAL = {"items": {"total": 2, "succeeded": 1, "failed": 1}}


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        (failed(), Recreate),
        (complete(PARTIAL, source=BATCH), Recreate),
        (export({"phase": "Running"}, deleting=True), Recreate),
        (export(suspend=True), Resume),
        (complete(), Nothing),
        (complete(suspend=True), Nothing),
        (export({"phase": "Running"}), Nothing),
        (export(), Nothing),
    ],
)
def test_what_a_retry_does(seen: Export, expected: type) -> None:
    assert isinstance(decide(seen), expected)


def test_there_is_one_record_for_each_export_of_each_cluster(tmp_path: Path) -> None:
    accesses = [
        Access("a", "x", "https://1"),
        Access("b", "x", "https://1"),
        Access("a", "y", "https://1"),
        Access("a", "x", "https://2"),
    ]
    paths = [record_path({}, tmp_path, access, "digits") for access in accesses]
    assert paths[0] == paths[1], "two contexts of one cluster"
    assert len(set(paths)) == 3
    assert paths[0].is_relative_to(tmp_path / ".local/state/modelexport")
    chosen = record_path({"XDG_STATE_HOME": "/state"}, tmp_path, accesses[0], "digits")
    assert chosen.is_relative_to("/state/modelexport")


def test_what_a_deletion_waits_for() -> None:
    raw = {"metadata": {"finalizers": ["foregroundDeletion", "example.com/hold"]}}
    assert blockers(raw) == ["example.com/hold"]
    assert blockers({"metadata": {}}) == []
