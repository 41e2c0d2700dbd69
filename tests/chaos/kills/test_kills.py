"""A short part of `make chaos kills`: each kind of kill, with small workers and with real ones."""

from __future__ import annotations

import os

import pytest

from bed.s3 import S3Server
from chaos.kills.cases import GONE, KILLS, Case, Change, Kill, Kind, Write
from chaos.kills.pod import Victim
from chaos.kills.study import Rehearsal, Study
from chaos.kills.workload import REAL, SMALL
from modelexport_exporter.isolation.server import start_server

pytestmark = pytest.mark.s3

STAGES = ("Fetch", "Load", "Convert", "Verify", "Publish")
"""Of a run with small workers."""
SMALL_RUN = Rehearsal({}, [0.0] * len(STAGES), writes=15)
SUPERVISOR, FORK_SERVER, EXPORT_WORKER, REFERENCE, _JUDGE, ALL = (Kill(one) for one in Victim)
EVICTION = KILLS[-1]


@pytest.fixture
def server(s3: S3Server, monkeypatch: pytest.MonkeyPatch) -> S3Server:
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    for name, value in s3.environment().items():
        monkeypatch.setenv(name, value)
    # Not while temporary files are those of a case: this server goes on after it.
    start_server(("chaos.kills.small_pod",))
    return s3


def check(study: Study, case: Case, rehearsal: Rehearsal) -> None:
    outcome = study.run(case, rehearsal)
    assert outcome.killed_at is not None
    assert outcome.looks > 3
    assert outcome.held, outcome


@pytest.mark.parametrize(
    ("kill", "stage", "replaces"),
    [
        (SUPERVISOR, "Load", False),
        (FORK_SERVER, "Load", False),
        (EXPORT_WORKER, "Load", True),
        (REFERENCE, "Verify", False),
        (EVICTION, "Fetch", False),
        (EVICTION, "Verify", True),
    ],
    ids=str,
)
def test_a_process_killed_at_a_stage(
    server: S3Server, kill: Kill, stage: str, replaces: bool
) -> None:
    instant = Change(STAGES.index(stage))
    case = Case(0, Kind(kill, batch=False), instant, replaces, cold=False)
    check(Study(server, SMALL), case, SMALL_RUN)


@pytest.mark.parametrize("number", [3, 14, 17, 22])
def test_a_node_lost_between_two_writes(server: S3Server, number: int) -> None:
    """With an upload open, with contents only, with the manifest, with half of the copies."""
    case = Case(0, Kind(GONE, batch=False, at_writes=True), Write(number), True, cold=False)
    check(Study(server, SMALL), case, SMALL_RUN)


@pytest.mark.usefixtures("torch_workers")
def test_a_node_lost_during_a_real_verification(server: S3Server) -> None:
    stages = ("Fetch", "Load", "Capture", "Convert", "Contract", "Verify", "Publish")
    real = Rehearsal({}, [0.0] * len(stages), writes=14)
    case = Case(0, Kind(ALL, batch=False), Change(stages.index("Verify")), False, cold=False)
    check(Study(server, REAL), case, real)


@pytest.mark.usefixtures("torch_workers")
@pytest.mark.nightly
def test_a_node_lost_during_a_real_batch(server: S3Server) -> None:
    """After the first checkpoint was published, while the second is verified."""
    case = Case(0, Kind(ALL, batch=True), Change(7), False, cold=False)
    check(Study(server, REAL, items=2), case, Rehearsal({}, [0.0] * 20, writes=40))
