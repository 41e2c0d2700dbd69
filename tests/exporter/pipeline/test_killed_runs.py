"""Runs that are killed or stopped: the destination is safe to read, and the next run succeeds."""

from __future__ import annotations

import hashlib
import json
import signal
import subprocess
from pathlib import Path

import pytest

from exporter.pipeline.destination import (
    CHECKPOINT,
    Make,
    Place,
    check_artifact,
    export,
    published,
    read,
    write,
)
from killed_run import command, environment, killed_runs
from modelexport_api.reasons import ExitCode
from modelexport_exporter.storage.store import Location

pytestmark = pytest.mark.usefixtures("no_grace")


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
