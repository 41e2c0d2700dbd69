"""Runs that fail, on both kinds of store: their reasons, and that nothing else is published."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from exporter.pipeline.destination import (
    CHECKPOINT,
    Make,
    Place,
    artifact_names,
    check_artifact,
    export,
    published,
    read,
    write,
)
from modelexport_api.pod import PodResult
from modelexport_api.reasons import EXIT_CODES, ExitCode, Reason
from modelexport_api.status import Stage
from modelexport_exporter.core.types import ConvertedModel, ExportTask
from modelexport_exporter.pipeline.worker_client import Workers
from modelexport_exporter.storage.store import Location

pytestmark = pytest.mark.usefixtures("no_grace")


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
