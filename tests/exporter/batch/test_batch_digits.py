"""The pod's process over folds of the digits network, with the real workers.

Each test uses one of the stores: what a batch does with either is tested with small workers
(`test_batch.py`).
"""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import onnxruntime
import pytest
import torch

from modelexport_api.items import ShareCounts
from modelexport_api.pod import MANIFEST_ENV, PodResult, parse_log_line
from modelexport_api.resource import ModelExport, parse
from modelexport_api.spec import Storage
from modelexport_cli.main import main as modelexport
from modelexport_exporter.batch.plan import directory_of
from modelexport_exporter.batch.results import Results
from modelexport_exporter.batch.run import Part, run_share, run_single
from modelexport_exporter.core.log import JsonLog
from modelexport_exporter.pipeline.context import Settings
from modelexport_exporter.pod import INDEX_ENV, TERMINATION_LOG_ENV, WORK_DIR_ENV
from modelexport_exporter.publish.layout import is_content
from modelexport_exporter.storage.locate import locate
from modelexport_exporter.storage.store import Location, Role
from models.catalog import DIGITS
from models.digits import held_out, trained

FOLDS = ("fold-1", "fold-2", "fold-3")
Place = Callable[..., Location]
ON_S3 = pytest.mark.parametrize("root", [pytest.param("s3", marks=pytest.mark.s3)], indirect=True)
IN_FILES = pytest.mark.parametrize("root", ["file"], indirect=True)


@dataclass
class Pods:
    """Folds in a store, and the pods that export them."""

    root: str
    storage: Storage
    tmp_path: Path

    def resource(self, source: str, to: str, **spec: Any) -> ModelExport:  # noqa: ANN401
        document = DIGITS.manifest(
            f"{self.root}{source}",
            f"{self.root}code/",
            f"{self.root}{to}",
            storage=self.storage.to_wire(),
            **spec,
        )
        document["metadata"] = {"name": "digits", "uid": "0000-1111"}
        return parse(document)

    def start(self, resource: ModelExport, share: int) -> subprocess.Popen[str]:
        """Start the pod of a share."""
        variables = {
            MANIFEST_ENV: resource.model_dump_json(by_alias=True, exclude_none=True),
            TERMINATION_LOG_ENV: str(self.tmp_path / f"termination-{share}"),
            WORK_DIR_ENV: str(self.tmp_path / f"work-{share}"),
            INDEX_ENV: str(share),
        }
        return subprocess.Popen(
            [sys.executable, "-m", "modelexport_exporter"],
            env={**os.environ, **variables},
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, resource: ModelExport, share: int) -> PodResult:
        """Let a pod do all that it has to do."""
        pod = self.start(resource, share)
        _, said = pod.communicate()
        termination = (self.tmp_path / f"termination-{share}").read_text()
        result = PodResult.model_validate_json(termination)
        assert pod.returncode == int(result.exit_code)
        check_progress(said, result)
        return result

    def run_here(self, resource: ModelExport, share: int | None = None) -> PodResult:
        """Do the same in this process, whose fork server has imported torch."""
        settings, said = Settings(self.tmp_path / f"work-{share}"), io.StringIO()
        if share is None:
            result = run_single(resource, settings, JsonLog(said))
        else:
            part = Part(share, resource.spec.parallelism)
            result = run_share(resource, settings, JsonLog(said), part).result
        check_progress(said.getvalue(), result)
        return result

    def results(self, resource: ModelExport) -> Results:
        where = directory_of(resource).child("results.json")
        answer = where.store.read(where.key)
        assert answer is not None
        return Results.model_validate_json(answer[0])

    def bytes_of(self, uri: str) -> bytes:
        where = locate(uri, self.storage, Role.SOURCE)
        answer = where.store.read(where.key)
        assert answer is not None
        return answer[0]


def check_progress(said: str, result: PodResult) -> None:
    """The log's progress never goes back, and ends with the counts of the result."""
    lines = [line for line in map(parse_log_line, said.splitlines()) if line]
    moved = [line for line in lines if line.progress is not None]
    percents = [line.progress.percent for line in moved if line.progress]
    assert percents == sorted(percents)
    assert moved[-1].share == result.share


def weights(number: int) -> dict[str, torch.Tensor]:
    """Weights of a fold: those of one training, a little apart."""
    state = trained()[0].state_dict()
    factor = 1 + 0.05 * number
    return {
        name: value * factor if value.is_floating_point() else value
        for name, value in state.items()
    }


@pytest.fixture
def pods(root: str, storage: Storage, place: Place, tmp_path: Path) -> Pods:
    for number, name in enumerate(FOLDS):
        content = io.BytesIO()
        torch.save(weights(number), content)
        where = place(f"run/{name}.pt")
        where.store.write(where.key, content.getvalue())
    code = place(f"code/{DIGITS.code.name}")
    code.store.write(code.key, DIGITS.code.read_bytes())
    return Pods(root, storage, tmp_path)


def counts(result: PodResult) -> ShareCounts:
    assert result.share is not None
    return result.share


@ON_S3
def test_every_artifact_computes_what_its_own_fold_computes(pods: Pods, place: Place) -> None:
    corrupt = place("run/fold-0.pt")
    corrupt.store.write(corrupt.key, b"PK\x03\x04 cut off")
    resource = pods.resource("run/fold-*.pt", "onnx/{stem}/", parallelism=2, maxFailed=1)
    results = [pods.run(resource, share) for share in range(2)]
    assert sum(counts(result).succeeded for result in results) == 3
    assert sum(counts(result).failed for result in results) == 1
    found = pods.results(resource)
    assert [item.outcome for item in found.items] == ["Failed", *["Succeeded"] * 3]
    assert found.reasons == {"CheckpointCorrupt": 1}
    images, _ = held_out()
    for number, item in enumerate(found.items[1:]):
        assert item.artifact_uri is not None
        session = onnxruntime.InferenceSession(pods.bytes_of(item.artifact_uri))
        [said] = session.run(None, {session.get_inputs()[0].name: images.numpy()})
        module = trained()[0]
        expected = torch.func.functional_call(module, weights(number), (images,))
        assert torch.allclose(torch.from_numpy(said), expected, rtol=1e-3, atol=1e-3)


@ON_S3
@pytest.mark.usefixtures("torch_workers")
def test_a_killed_pod_goes_on_and_publishes_nothing_twice(pods: Pods, place: Place) -> None:
    resource = pods.resource("run/fold-*.pt", "onnx/{stem}/")
    first = place("onnx/fold-1/manifest.json")
    pod = pods.start(resource, 0)
    assert pod.stderr is not None
    for _ in pod.stderr:  # a line at least with every stage
        if first.store.stat(first.key) is not None:
            break
    pod.kill()
    assert pod.wait() == -signal.SIGKILL
    published = first.store.stat(first.key)
    assert published is not None
    assert counts(pods.run_here(resource, 0)).succeeded == 3
    assert first.store.stat(first.key) == published
    for name in FOLDS:
        below = place(f"onnx/{name}/")
        names = [item.key.removeprefix(below.key) for item in below.store.list_all(below.key)]
        documents = ["manifest.json", "model.onnx", "provenance.json"]
        plain = [name for name in names if not is_content(name)]
        assert plain == [*documents, "report.html", "report.json"], "nothing is left staged"


@IN_FILES
@pytest.mark.usefixtures("torch_workers")
def test_a_batch_of_artifacts_is_verified_again(pods: Pods) -> None:
    resource = pods.resource("run/fold-[12].pt", "onnx/{stem}/")
    assert counts(pods.run_here(resource, 0)).succeeded == 2
    changed = resource.to_wire()
    changed["spec"] |= {"mode": "Verify", "source": {"uri": f"{pods.root}run/fold-*.pt"}}
    changed["metadata"]["uid"] = "2222"
    again = parse(changed)
    assert counts(pods.run_here(again, 0)).reasons == {"ArtifactInvalid": 1}
    [one, two, three] = pods.results(again).items
    assert (one.verdict, two.verdict) == ("Verified", "Verified")
    assert "fold-3" in three.message
    assert one.report_uri is not None
    assert "/onnx/fold-1/verifications/" in one.report_uri


@IN_FILES
@pytest.mark.usefixtures("torch_workers")
def test_a_single_checkpoint_may_use_placeholders(pods: Pods, place: Place) -> None:
    result = pods.run_here(pods.resource("run/fold-1.pt", "onnx/{parent}-{stem}/"))
    assert result.artifact is not None
    assert result.artifact.uri == place("onnx/run-fold-1/model.onnx").uri
    assert result.share is None


@IN_FILES
@pytest.mark.usefixtures("torch_workers")
def test_the_command_runs_and_diagnoses_a_batch(
    pods: Pods, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = pods.resource("run/fold-[12].pt", "onnx/{stem}/").to_wire()
    del document["metadata"]["uid"]
    manifest = tmp_path / "folds.yaml"
    manifest.write_text(json.dumps(document))
    work = ["--work-dir", str(tmp_path / "work")]
    assert modelexport(["run", str(manifest), *work, "--output", "json"]) == 0
    status = json.loads(capsys.readouterr().out)
    assert status["items"]["succeeded"] == 2
    assert status["conditions"][-1]["reason"] == "Published"
    assert modelexport(["diagnose", str(manifest), *work]) == 0
    said = capsys.readouterr()
    assert "batch of 2 checkpoints: diagnosing the first" in said.err
    assert "no problem found" in said.out
