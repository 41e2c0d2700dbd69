"""The pipeline on both kinds of store, with small workers: order, reuse, overwrite policies."""

from __future__ import annotations

import hashlib
import json
import sys
import time
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from exporter.pipeline.destination import (
    CHECKPOINT,
    Make,
    Place,
    check_artifact,
    data_name,
    export,
    read,
    settings,
    stored,
    write,
)
from modelexport_api.reasons import ExitCode, Reason
from modelexport_api.status import Stage
from modelexport_exporter.core.inferred import Inferred
from modelexport_exporter.core.log import JsonLog
from modelexport_exporter.pipeline.run import run
from modelexport_exporter.publish import clean_up
from modelexport_exporter.publish.layout import is_content
from modelexport_exporter.storage.store import Location

pytestmark = pytest.mark.usefixtures("no_grace")


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
