"""Batches on both kinds of store, with small workers: bad input, kills, two pods at once."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from batch_workers import PRELOAD, SETTINGS
from batches import FakeEngine, OneByOne, batch
from modelexport_api.pod import PodResult
from modelexport_api.reasons import ExitCode, Reason
from modelexport_api.resource import ManifestError, ModelExport, parse
from modelexport_api.spec import Storage
from modelexport_exporter.batch.plan import directory_of
from modelexport_exporter.batch.results import Results
from modelexport_exporter.batch.run import Part, run_share
from modelexport_exporter.core.log import JsonLog
from modelexport_exporter.pipeline.context import Settings
from modelexport_exporter.storage.locate import locate
from modelexport_exporter.storage.store import Location, Role

Place = Callable[..., Location]


@dataclass
class Runs:
    """Checkpoints below a root, and ways to run a batch of them."""

    root: str
    storage: Storage
    tmp_path: Path
    log: Path

    @property
    def exported(self) -> list[str]:
        """The content of every checkpoint whose export began, in order."""
        return self.log.read_text().splitlines() if self.log.exists() else []

    def write(self, **contents: str) -> None:
        """Write run/NAME.pt for each name."""
        for name, content in contents.items():
            where = locate(f"{self.root}run/{name}.pt", self.storage, Role.DESTINATION)
            where.store.write(where.key, content.encode())

    def resource(self, source: dict[str, Any] | None = None, **spec: Any) -> ModelExport:  # noqa: ANN401
        to = spec.pop("to", "{stem}")
        return batch(
            source or {"uri": f"{self.root}run/*.pt"},
            f"{self.root}onnx/{to}/",
            storage=self.storage.to_wire(),
            model={"factory": "small:build", "kwargs": {"log": str(self.log)}},
            verification={"benchmark": False},
            **spec,
        )

    def run(self, resource: ModelExport, part: Part | None = None) -> PodResult:
        settings = Settings(self.tmp_path / "work", **SETTINGS, preload=PRELOAD)
        log = JsonLog(sys.stderr)
        return run_share(resource, settings, log, part or Part(), OneByOne).result

    def pod(self, resource: ModelExport, share: int = 0, shares: int = 1) -> subprocess.Popen[str]:
        """Start a pod in a process of its own."""
        paths = filter(None, (str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH")))
        return subprocess.Popen(
            [
                sys.executable,
                *("-m", "batch_pod", resource.model_dump_json(by_alias=True)),
                *(str(self.tmp_path / f"work-{share}"), str(share), str(shares)),
            ],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
            stdout=subprocess.PIPE,
            text=True,
        )

    def read(self, resource: ModelExport, name: str) -> bytes | None:
        where = directory_of(resource).child(name)
        answer = where.store.read(where.key)
        return answer[0] if answer else None

    def results(self, resource: ModelExport) -> Results:
        return Results.model_validate_json(self.read(resource, "results.json") or b"")

    def kill_at(self, resource: ModelExport, content: str) -> None:
        """Start a pod, and kill it hard while it works on the checkpoint with this content."""
        before = self.exported.count(content)
        pod = self.pod(resource)
        deadline = time.monotonic() + 60
        while self.exported.count(content) == before:
            assert time.monotonic() < deadline
            assert pod.poll() is None
            time.sleep(0.05)
        pod.kill()
        assert pod.wait() == -signal.SIGKILL
        pod.communicate()


pytestmark = pytest.mark.parametrize(
    "any_root",
    [
        pytest.param("file", marks=pytest.mark.nightly),
        "pvc",
        pytest.param("s3", marks=pytest.mark.s3),
    ],
    indirect=True,
)


@pytest.fixture
def root(any_root: str) -> str:
    """Every store: volumes, too."""
    return any_root


@pytest.fixture
def runs(root: str, storage: Storage, tmp_path: Path, workers_log: Path) -> Runs:
    return Runs(root, storage, tmp_path, workers_log)


def outcomes(results: Results) -> dict[str, str]:
    return {item.name: item.reason or item.outcome for item in results.items}


def test_one_of_many_is_corrupt(runs: Runs, place: Place) -> None:
    runs.write(a="1", b="corrupt", c="3")
    resource = runs.resource(maxFailed=1)
    result = runs.run(resource)
    assert result.exit_code is ExitCode.DONE
    results = runs.results(resource)
    assert outcomes(results) == {
        "a.pt": "Succeeded",
        "b.pt": "CheckpointCorrupt",
        "c.pt": "Succeeded",
    }
    for item in results.items:
        assert item.report_uri is not None
        report = locate(item.report_uri, runs.storage, Role.SOURCE)
        assert report.store.stat(report.key) is not None
    [first, _, third] = results.items
    assert first.sha256 != third.sha256, "each has its own weights"
    for name in ("a", "c"):
        manifest = place(f"onnx/{name}/manifest.json")
        assert manifest.store.stat(manifest.key) is not None


def test_a_second_run_exports_nothing_again(runs: Runs) -> None:
    runs.write(a="1", b="2")
    resource = runs.resource()
    runs.run(resource)
    result = runs.run(resource)
    assert result.share is not None
    assert result.share.succeeded == 2
    assert runs.exported == ["1", "2"]
    assert all(item.reused for item in runs.results(resource).items)


def test_a_run_that_has_nothing_left_to_do_removes_what_a_killed_one_left(runs: Runs) -> None:
    runs.write(a="1")
    resource = runs.resource()
    runs.run(resource)
    killed = runs.tmp_path / "work" / "modelexport-run-killed"
    killed.mkdir(parents=True)
    (killed / "lock").touch()
    assert runs.run(resource).exit_code is ExitCode.DONE
    assert not killed.exists()


def test_nothing_matches(runs: Runs) -> None:
    runs.write(a="1", b="2")
    result = runs.run(runs.resource({"uri": f"{runs.root}run/*.safetensors"}))
    assert result.failure is not None
    assert result.failure.reason is Reason.NOTHING_MATCHED
    assert result.exit_code is ExitCode.SOURCE
    said = result.failure.message
    assert f"{runs.root}run/*.safetensors matches nothing" in said
    assert "there are 2 objects: a.pt, b.pt" in said

    result = runs.run(runs.resource({"uri": f"{runs.root}rum/*.pt"}))
    assert result.failure is not None
    assert f"there is nothing below {runs.root}rum/" in result.failure.message
    assert "has run/" in result.failure.message


def test_directories_are_checkpoints_where_the_glob_ends_in_a_slash(
    runs: Runs, place: Place
) -> None:
    for name in ("run/one/x.bin", "run/two/x.bin", "run/two/deep/y.bin", "run/z.bin"):
        where = place(name)
        where.store.write(where.key, b"12345")
    engine = FakeEngine()
    resource = runs.resource({"uri": f"{runs.root}run/*/"}, to="{name}")
    run_share(resource, Settings(runs.tmp_path), JsonLog(sys.stderr), Part(), lambda _s: engine)
    assert engine.asked == ["one", "two"]
    plan = json.loads(runs.read(resource, "plan.json") or b"")
    assert [item["sizeBytes"] for item in plan["items"]] == [5, 10]
    assert [item["uri"][-5:] for item in plan["items"]] == ["/one/", "/two/"]
    assert [item["destination"][-5:] for item in plan["items"]] == ["/one/", "/two/"]


def test_the_same_object_twice_is_refused_at_admission(runs: Runs) -> None:
    uri = f"{runs.root}run/a.pt"
    document = runs.resource({"uris": [uri, uri]}).to_wire()
    with pytest.raises(ManifestError, match="must be unique"):
        parse(document)


def test_names_that_collide_are_refused_before_any_work(runs: Runs, place: Place) -> None:
    for name in ("run/1/model.pt", "run/2/model.pt"):
        where = place(name)
        where.store.write(where.key, b"1")
    result = runs.run(runs.resource({"uri": f"{runs.root}run/*/model.pt"}))
    assert result.failure is not None
    assert result.failure.reason is Reason.DESTINATIONS_COLLIDE
    assert "run/1/model.pt and " in result.failure.message
    assert runs.exported == []
    root = place("onnx/")
    assert root.store.list_all(root.key) == []


def test_a_uri_that_names_nothing_is_that_checkpoints_failure(runs: Runs) -> None:
    runs.write(a="1")
    uris = [f"{runs.root}run/{name}.pt" for name in ("missing", "a")]
    resource = runs.resource({"uris": uris})
    assert runs.run(resource).outcome == "Succeeded"
    assert outcomes(runs.results(resource)) == {"missing.pt": "SourceNotFound", "a.pt": "Succeeded"}


def test_a_listing_of_many_pages(runs: Runs, place: Place) -> None:
    """More than the thousand that S3 gives at once; most of them match nothing."""
    root = place("run/")
    for number in range(1003):
        where = root.child(f"{number:04d}.txt")
        where.store.write(where.key, b"")
    runs.write(z="1")
    resource = runs.resource()
    result = runs.run(resource)
    assert result.share is not None
    assert result.share.batch_total == 1


def test_a_killed_pod_goes_on_and_nothing_is_exported_twice(runs: Runs) -> None:
    runs.write(a="1", b="hang", c="3")
    resource = runs.resource(uid="u")
    runs.kill_at(resource, "hang")
    runs.write(b="2")
    pod = runs.pod(resource)
    result = PodResult.model_validate_json(pod.communicate()[0])
    assert result.share is not None
    assert result.share.succeeded == 3
    assert runs.exported == ["1", "hang", "2", "3"]


def test_a_checkpoint_that_kills_two_pods_is_left_out(runs: Runs) -> None:
    runs.write(a="1", b="hang", c="3")
    resource = runs.resource(uid="u")
    for _ in range(2):
        runs.kill_at(resource, "hang")
    pod = runs.pod(resource)
    out, _ = pod.communicate()
    assert pod.returncode == 0
    result = PodResult.model_validate_json(out)
    assert result.share is not None
    assert result.share.reasons == {"PodKilled": 1}
    assert runs.exported == ["1", "hang", "hang", "3"]
    assert outcomes(runs.results(resource))["b.pt"] == "PodKilled"


def test_a_pod_that_is_asked_to_stop_is_nobodys_kill(runs: Runs) -> None:
    runs.write(a="1", b="hang")
    resource = runs.resource(uid="u")
    for _ in range(3):
        before = runs.exported.count("hang")
        pod = runs.pod(resource)
        while runs.exported.count("hang") == before:
            assert pod.poll() is None
            time.sleep(0.05)
        pod.terminate()
        result = PodResult.model_validate_json(pod.communicate()[0])
        assert pod.returncode == int(ExitCode.RETRYABLE)
        assert result.failure is not None
        assert result.failure.reason is Reason.INTERRUPTED
    assert outcomes(runs.results(resource)) == {"a.pt": "Succeeded", "b.pt": "Pending"}


def test_two_pods_at_once_make_one_plan_and_all_results(runs: Runs) -> None:
    runs.write(**{f"fold{number}": str(number) for number in range(6)})
    resource = runs.resource(uid="u", parallelism=2)
    pods = [runs.pod(resource, share, 2) for share in range(2)]
    results = [PodResult.model_validate_json(pod.communicate()[0]) for pod in pods]
    assert [result.share and result.share.share_total for result in results] == [3, 3]
    assert sorted(runs.exported) == [str(number) for number in range(6)]
    complete = runs.results(resource)
    assert (complete.succeeded, complete.pending) == (6, 0)
    assert (runs.read(resource, "index.html") or b"").count(b"Verified</span>") == 6
    assert len((runs.read(resource, "results.csv") or b"").splitlines()) == 7
