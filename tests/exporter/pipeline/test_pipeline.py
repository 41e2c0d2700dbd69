"""The pipeline on both kinds of store, with small workers: order, policy, failures, kills."""

from __future__ import annotations

import hashlib
import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from killed_run import SETTINGS, command, environment, killed_runs
from modelexport_api.pod import PodResult
from modelexport_api.reasons import EXIT_CODES, ExitCode, Reason
from modelexport_api.resource import ModelExport
from modelexport_api.status import Stage
from modelexport_exporter.core.inferred import Inferred
from modelexport_exporter.core.log import JsonLog
from modelexport_exporter.core.types import ConvertedModel, ExportTask
from modelexport_exporter.pipeline.context import Settings
from modelexport_exporter.pipeline.run import run
from modelexport_exporter.pipeline.worker_client import Workers
from modelexport_exporter.publish import clean_up
from modelexport_exporter.publish.layout import is_content, is_data
from modelexport_exporter.storage.store import Location

Place = Callable[..., Location]
Make = Callable[..., ModelExport]
CHECKPOINT = b"weights" * 1000


@pytest.fixture
def checkpoint(place: Place) -> Location:
    return write(place("run/model.pt"), CHECKPOINT)


def write(where: Location, content: bytes) -> Location:
    where.store.write(where.key, content)
    return where


def read(where: Location) -> bytes | None:
    answer = where.store.read(where.key)
    return answer[0] if answer else None


def settings(tmp_path: Path) -> Settings:
    return Settings(tmp_path / "work", **SETTINGS, preload=("small_workers",))


def export(resource: ModelExport, tmp_path: Path) -> PodResult:
    result = run(resource, settings(tmp_path), JsonLog(sys.stderr))
    assert list((tmp_path / "work").iterdir()) == [], "the workspace is cleaned up"
    return result


@pytest.fixture(autouse=True)
def no_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clean_up, "GRACE", timedelta(0))


def stored(place: Place) -> list[str]:
    root = place("out/")
    return [item.key.removeprefix(root.key) for item in root.store.list_all(root.key)]


def published(place: Place) -> list[str]:
    """The plain names."""
    return [name for name in stored(place) if is_data(name) or not is_content(name)]


def data_name(content: bytes = CHECKPOINT) -> str:
    return f"model.{hashlib.sha256(content).hexdigest()[:12]}.data"


def artifact_names(content: bytes = CHECKPOINT) -> list[str]:
    documents = ["manifest.json", "provenance.json", "report.html", "report.json"]
    return sorted([*documents, "model.onnx", data_name(content)])


def check_artifact(place: Place, content: bytes = CHECKPOINT) -> dict[str, Any]:
    assert published(place) == artifact_names(content)
    manifest: dict[str, Any] = json.loads(read(place("out/manifest.json")) or b"")
    for file in manifest["artifact"]["files"]:
        found = read(place(f"out/{file['name']}"))
        assert found is not None
        assert hashlib.sha256(found).hexdigest() == file["sha256"]
        assert read(place(f"out/{manifest['contents'][file['name']]['path']}")) == found
    paths = {content["path"] for content in manifest["contents"].values()}
    assert {name for name in stored(place) if is_content(name)} == paths
    return manifest


@pytest.mark.usefixtures("checkpoint")
def test_a_verified_artifact_is_published_with_its_report(
    place: Place, resource: Make, tmp_path: Path
) -> None:
    result = export(resource(), tmp_path)

    assert result.exit_code is ExitCode.DONE
    assert result.completed == list(Stage)
    assert result.artifact is not None
    manifest = check_artifact(place)
    assert manifest["source"]["sha256"] == hashlib.sha256(CHECKPOINT).hexdigest()
    report = json.loads(read(place("out/report.json")) or b"")
    assert report["outcome"] == "Succeeded"
    assert [stage["stage"] for stage in report["stages"]] == ["Fetch", "Load", "Convert", "Verify"]


@pytest.mark.usefixtures("checkpoint")
def test_values_of_the_spec_that_were_inferred_are_in_the_report(
    place: Place, resource: Make, tmp_path: Path
) -> None:
    inferred = Inferred(field="inputs[0].shape", value="[batch, 4]", source="ran at 2 and 3")
    run(resource(), replace(settings(tmp_path), inferred=(inferred,)), JsonLog(sys.stderr))
    report = json.loads(read(place("out/report.json")) or b"")
    assert report["inferred"] == [inferred.model_dump()]


@pytest.mark.usefixtures("checkpoint")
def test_the_same_work_is_not_done_twice(place: Place, resource: Make, tmp_path: Path) -> None:
    first = export(resource(), tmp_path)
    second = export(resource(), tmp_path)
    assert not first.reused
    assert second.reused
    assert second.artifact == first.artifact
    assert second.report_uri == first.report_uri


def test_the_same_content_written_again_is_the_same_work(
    place: Place, resource: Make, tmp_path: Path, checkpoint: Location
) -> None:
    export(resource(), tmp_path)
    time.sleep(0.01)
    write(checkpoint, CHECKPOINT)
    assert export(resource(), tmp_path).reused


def test_an_artifact_of_another_source_is_replaced(
    place: Place, resource: Make, tmp_path: Path, checkpoint: Location
) -> None:
    export(resource(), tmp_path)
    write(checkpoint, b"other weights")
    assert not export(resource(), tmp_path).reused
    check_artifact(place, b"other weights")


def test_an_artifact_whose_file_is_gone_is_made_again(
    place: Place, resource: Make, tmp_path: Path, checkpoint: Location
) -> None:
    export(resource(), tmp_path)
    model = next(name for name in stored(place) if is_content(name) and name.endswith(".onnx"))
    where = place(f"out/{model}")
    where.store.delete([where.key])
    assert not export(resource(), tmp_path).reused
    check_artifact(place)


@pytest.mark.parametrize("damage", ["gone", "others", "same size"])
@pytest.mark.usefixtures("checkpoint")
def test_a_plain_name_with_other_bytes_is_repaired_by_the_next_run(
    place: Place, resource: Make, tmp_path: Path, damage: str
) -> None:
    export(resource(), tmp_path)
    model = place("out/model.onnx")
    size = len(read(model) or b"")
    if damage == "gone":
        model.store.delete([model.key])
    else:
        write(model, b"theirs" if damage == "others" else bytes(size))
    assert export(resource(), tmp_path).reused
    check_artifact(place)


@pytest.mark.usefixtures("checkpoint")
def test_bytes_of_the_same_size_are_not_the_artifact(
    place: Place, resource: Make, tmp_path: Path
) -> None:
    export(resource(), tmp_path)
    write(place(f"out/{data_name()}"), bytes(len(CHECKPOINT)))
    assert not export(resource(), tmp_path).reused
    check_artifact(place)


@pytest.mark.usefixtures("checkpoint")
def test_an_artifact_of_an_earlier_version_is_compared_by_digest(
    place: Place, resource: Make, tmp_path: Path
) -> None:
    """Its manifest has no contents; its files are under their plain names."""
    export(resource(), tmp_path)
    where = place("out/manifest.json")
    manifest = json.loads(read(where) or b"")
    del manifest["contents"]
    write(where, json.dumps(manifest).encode())
    assert export(resource(), tmp_path).reused
    write(place("out/report.json"), bytes(len(read(place("out/report.json")) or b"")))
    assert not export(resource(), tmp_path).reused
    check_artifact(place)


def test_readers_of_the_earlier_manifest_have_a_while(
    place: Place,
    resource: Make,
    tmp_path: Path,
    checkpoint: Location,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(clean_up, "GRACE", timedelta(hours=1))
    export(resource(), tmp_path)
    before = json.loads(read(place("out/manifest.json")) or b"")
    write(checkpoint, b"other weights")
    export(resource(), tmp_path)
    for file in before["artifact"]["files"]:
        found = read(place(f"out/{before['contents'][file['name']]['path']}"))
        assert found is not None
        assert hashlib.sha256(found).hexdigest() == file["sha256"]
    monkeypatch.setattr(clean_up, "GRACE", timedelta(0))
    assert export(resource(), tmp_path).reused
    check_artifact(place, b"other weights")


def overwrite(root: str, policy: str) -> dict[str, Any]:
    return {"destination": {"uri": f"{root}out/", "overwrite": policy}}


def test_never_fails_where_another_artifact_is(
    place: Place, resource: Make, tmp_path: Path, checkpoint: Location, root: str
) -> None:
    export(resource(), tmp_path)
    never = resource(**overwrite(root, "Never"))
    assert export(never, tmp_path).reused
    write(checkpoint, b"other weights")
    result = export(never, tmp_path)
    assert result.failure is not None
    assert result.failure.reason is Reason.DESTINATION_EXISTS


@pytest.mark.usefixtures("checkpoint")
def test_never_keeps_a_model_that_somebody_else_put_there(
    place: Place, resource: Make, tmp_path: Path, root: str
) -> None:
    write(place("out/model.onnx"), b"theirs")
    result = export(resource(**overwrite(root, "Never")), tmp_path)
    assert result.exit_code is ExitCode.DESTINATION
    assert read(place("out/model.onnx")) == b"theirs"


@pytest.mark.usefixtures("checkpoint")
def test_always_exports_anew_but_not_twice_for_one_resource(
    resource: Make, tmp_path: Path, root: str
) -> None:
    always = overwrite(root, "Always")
    export(resource(uid="one", **always), tmp_path)
    assert export(resource(uid="one", **always), tmp_path).reused
    assert not export(resource(uid="two", **always), tmp_path).reused
    assert not export(resource(**always), tmp_path).reused


@pytest.mark.usefixtures("checkpoint")
def test_a_mismatch_publishes_its_report_and_nothing_else(
    place: Place, resource: Make, tmp_path: Path
) -> None:
    result = export(resource("mismatch"), tmp_path)

    assert result.failure is not None
    assert result.failure.reason is Reason.VERIFICATION_FAILED
    assert result.completed == [
        stage for stage in Stage if stage.value not in {"Verify", "Publish"}
    ]
    page_name, report_name = published(place)
    assert report_name.startswith("failed/small-")
    assert page_name == report_name.replace(".json", ".html")
    assert b"Mismatch" in (read(place(f"out/{page_name}")) or b"")
    assert result.report_uri == place(f"out/{report_name}").uri
    report = json.loads(read(place(f"out/{report_name}")) or b"")
    assert report["failure"]["reason"] == "VerificationFailed"
    assert report["samples"][0]["outputs"][0]["maxAbsError"] == "inf"
    assert PodResult.model_validate_json(result.model_dump_json(by_alias=True)) == result


@pytest.mark.usefixtures("checkpoint")
def test_an_old_artifact_stays_when_its_successor_does_not_verify(
    place: Place, resource: Make, tmp_path: Path
) -> None:
    export(resource(), tmp_path)
    before = read(place("out/manifest.json"))
    export(resource("mismatch"), tmp_path)
    assert read(place("out/manifest.json")) == before
    assert {name for name in published(place) if not name.startswith("failed/")} == set(
        artifact_names()
    )


@pytest.mark.usefixtures("checkpoint")
def test_the_report_of_a_run_that_was_stopped_at_its_start_is_removed(
    place: Place, resource: Make, tmp_path: Path
) -> None:
    """It ended before it knew the digest of its spec, by which reports of failures are named."""
    early = write(place("out/failed/small-unknown/report.json"), b"{}")
    export(resource(), tmp_path)
    assert read(early) is None


def test_a_missing_checkpoint_names_what_is_there(
    place: Place, resource: Make, tmp_path: Path
) -> None:
    write(place("run/model-9.pt"), b"x")
    result = export(resource(), tmp_path)
    assert result.exit_code is ExitCode.SOURCE
    assert result.failure is not None
    assert result.failure.reason is Reason.SOURCE_NOT_FOUND
    assert "it has model-9.pt" in result.failure.message
    assert result.failure.stage is Stage.FETCH


@pytest.mark.usefixtures("checkpoint")
def test_a_wrong_pin_stops_before_anything_is_loaded(
    resource: Make, tmp_path: Path, root: str
) -> None:
    source = {"uri": f"{root}run/model.pt", "sha256": "0" * 64}
    result = export(resource("segfault", source=source), tmp_path)
    assert result.failure is not None
    assert result.failure.reason is Reason.DIGEST_MISMATCH


@pytest.mark.parametrize(
    ("behaviour", "reason"),
    [
        ("_exit", Reason.FACTORY_FAILED),
        ("bug", Reason.INTERNAL_ERROR),
        ("memory error", Reason.OUT_OF_MEMORY),
        ("name others", Reason.WORKER_ANSWER_INVALID),
        ("link", Reason.ARTIFACT_CHANGED),
        ("rewrite", Reason.ARTIFACT_CHANGED),
    ],
)
@pytest.mark.usefixtures("checkpoint")
def test_a_worker_that_fails_fails_the_export(
    place: Place,
    resource: Make,
    tmp_path: Path,
    behaviour: str,
    reason: Reason,
) -> None:
    result = export(resource(behaviour), tmp_path)
    assert result.failure is not None
    assert result.failure.reason is reason
    assert result.exit_code is EXIT_CODES[reason]
    assert [name for name in published(place) if not name.startswith("failed/")] == []


def test_a_checkpoint_changed_during_the_export_never_changes_the_artifact(
    place: Place,
    resource: Make,
    tmp_path: Path,
    checkpoint: Location,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A file is used in place, so the export starts again; an object was downloaded before."""
    verify = Workers.verify

    def changed(self: Workers, task: ExportTask, converted: ConvertedModel) -> None:
        verify(self, task, converted)
        write(checkpoint, b"changed")

    monkeypatch.setattr(Workers, "verify", changed)
    result = export(resource(), tmp_path)
    if checkpoint.store.local_path(checkpoint.key) is None:
        manifest = check_artifact(place)
        assert manifest["source"]["sha256"] == hashlib.sha256(CHECKPOINT).hexdigest()
    else:
        assert result.failure is not None
        assert result.failure.reason is Reason.SOURCE_CHANGED
        assert "model.onnx" not in published(place)


def check_reader_is_safe(place: Place) -> None:
    """Whatever a manifest or a model.onnx speaks of is there."""
    names = published(place)
    manifest = read(place("out/manifest.json"))
    model = read(place("out/model.onnx"))
    if model is not None:
        graph, _ = json.JSONDecoder().raw_decode(model.decode(errors="replace"))
        assert graph["data"] in names
    if manifest is not None:
        described = json.loads(manifest)
        for file in described["artifact"]["files"]:
            found = read(place(f"out/{described['contents'][file['name']]['path']}"))
            assert found is not None
            assert hashlib.sha256(found).hexdigest() == file["sha256"]


@pytest.mark.parametrize(
    "root",
    [
        pytest.param("file", marks=pytest.mark.nightly),  # the store of pvc, without its refusals
        "pvc",
        pytest.param("s3", marks=pytest.mark.s3),
    ],
    indirect=True,
)
def test_killed_at_any_write_it_is_safe_to_read_and_to_run_again(
    place: Place,
    resource: Make,
    tmp_path: Path,
    checkpoint: Location,
    request: pytest.FixtureRequest,
) -> None:
    """First for an empty destination, then for one whose artifact is replaced."""
    contents = [CHECKPOINT, b"the next weights"]
    if checkpoint.uri.startswith("s3:"):
        export(resource(), tmp_path)  # S3 is slower; a replacement has every write there is
        contents = contents[1:]
    with killed_runs(resource(), tmp_path / "work") as runs:
        for content in contents:
            write(checkpoint, content)
            for kill_at in range(40):
                code = runs.run(kill_at)
                if code != -signal.SIGKILL:
                    break
                check_reader_is_safe(place)
            assert code == 0
            assert kill_at > 5
            check_artifact(place, content)
    assert list((tmp_path / "work").iterdir()) == []
    if checkpoint.uri.startswith("s3:"):
        client = request.getfixturevalue("s3").client()
        uploads = client.list_multipart_uploads(Bucket=request.getfixturevalue("bucket"))
        assert uploads.get("Uploads", []) == []


@pytest.mark.usefixtures("checkpoint")
def test_sigterm_ends_the_worker_and_clears_up(
    place: Place, resource: Make, tmp_path: Path
) -> None:
    with subprocess.Popen(
        [*command(resource("hang"), tmp_path / "work"), "once"],
        env=environment(),
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if json.loads(line).get("progress", {}).get("stage") == "Load":
                break
        process.send_signal(signal.SIGTERM)
        process.stderr.read()
    assert process.returncode == ExitCode.RETRYABLE
    assert [name for name in published(place) if not name.startswith("failed/")] == []
    assert list((tmp_path / "work").iterdir()) == []
