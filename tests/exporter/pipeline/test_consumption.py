"""What is published for consumers, on both kinds of store: layouts, signatures, kills."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import signal
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import onnx
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from securesystemslib.dsse import Envelope
from securesystemslib.signer import SSlibKey  # type: ignore[attr-defined]

from killed_run import SETTINGS, killed_runs
from modelexport_api.pod import SIGNING_KEY_FILE_ENV, PodResult
from modelexport_api.reasons import ExitCode, Reason
from modelexport_api.resource import ModelExport
from modelexport_exporter.core.log import JsonLog
from modelexport_exporter.pipeline.context import Settings
from modelexport_exporter.pipeline.run import run
from modelexport_exporter.publish import clean_up
from modelexport_exporter.publish.layout import is_content, is_data
from modelexport_exporter.storage.store import Location
from triton_rules import parsed

Place = Callable[..., Location]
Make = Callable[..., ModelExport]
CHECKPOINT = b"weights" * 1000
DATA = f"model.{hashlib.sha256(CHECKPOINT).hexdigest()[:12]}.data"
DOCUMENTS = {"manifest.json", "provenance.json", "report.json", "report.html"}
PLAIN = {*DOCUMENTS, "model.onnx", DATA}
TRITON = {*DOCUMENTS, "config.pbtxt", "1/model.onnx", f"1/{DATA}"}


@pytest.fixture(autouse=True)
def checkpoint(place: Place) -> None:
    where = place("run/model.pt")
    where.store.write(where.key, CHECKPOINT)


@pytest.fixture
def key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Ed25519PrivateKey]:
    """Makes the key with which the next run signs."""

    def made() -> Ed25519PrivateKey:
        private = Ed25519PrivateKey.generate()
        path = tmp_path / "key.pem"
        path.write_bytes(
            private.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )
        monkeypatch.setenv(SIGNING_KEY_FILE_ENV, str(path))
        return private

    return made


@pytest.fixture
def asked(resource: Make, root: str) -> Callable[[str], ModelExport]:
    """Makes a resource with a layout, all for one destination."""

    def made(layout: str, **destination: object) -> ModelExport:
        where = {"uri": f"{root}repository/small/", "layout": layout, **destination}
        return resource(destination=where)

    return made


def export(resource: ModelExport, tmp_path: Path) -> PodResult:
    settings = Settings(tmp_path / "work", **SETTINGS, preload=("small_workers",))
    return run(resource, settings, JsonLog(sys.stderr))


def stored(place: Place) -> dict[str, bytes]:
    where = place("repository/small/")
    return {
        item.key.removeprefix(where.key): (where.store.read(item.key) or (b"",))[0]
        for item in where.store.list_all(where.key)
    }


def published(place: Place) -> dict[str, bytes]:
    return {name: content for name, content in stored(place).items() if is_plain(name)}


def is_plain(name: str) -> bool:
    return is_data(name) or not is_content(name)


@pytest.fixture(autouse=True)
def no_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clean_up, "GRACE", timedelta(0))


def check_whole(found: dict[str, bytes]) -> dict[str, Any]:
    """The manifest and the provenance name every file there is, by its digest."""
    digests = {name: hashlib.sha256(content).hexdigest() for name, content in found.items()}
    del digests["manifest.json"]
    manifest: dict[str, Any] = json.loads(found["manifest.json"])
    assert {file["name"]: file["sha256"] for file in manifest["artifact"]["files"]} == digests
    statement = json.loads(found["provenance.json"])
    named = {entry["name"]: entry["digest"]["sha256"] for entry in statement["subject"]}
    unnamed = {"provenance.json", "provenance.intoto.jsonl"}
    assert named == {name: digest for name, digest in digests.items() if name not in unnamed}
    return manifest


def test_each_layout_is_published_whole_and_reused(
    place: Place, asked: Make, tmp_path: Path
) -> None:
    """Changing the layout publishes anew and leaves nothing of the other behind."""
    for layout, names, model in (
        ("Triton", TRITON, "1/model.onnx"),
        ("Plain", PLAIN, "model.onnx"),
        ("Triton", TRITON, "1/model.onnx"),
    ):
        first = export(asked(layout), tmp_path)
        assert not first.reused
        assert first.artifact is not None
        assert first.artifact.uri == place(f"repository/small/{model}").uri
        found = published(place)
        assert set(found) == names
        assert check_whole(found)["layout"] == layout
        second = export(asked(layout), tmp_path)
        assert second.reused
        assert second.artifact == first.artifact
        assert published(place) == found
    assert parsed(found["config.pbtxt"].decode()).name == "small"


def test_a_destination_below_another_is_left_alone(
    place: Place, asked: Make, resource: Make, tmp_path: Path, root: str
) -> None:
    """People number their versions, too: `small/1/` need not be Triton's."""
    export(resource(destination={"uri": f"{root}repository/small/1/"}), tmp_path)
    before = published(place)
    assert f"1/{DATA}" in before
    other = place("run/model.pt")
    other.store.write(other.key, b"other weights")
    export(asked("Plain"), tmp_path)
    export(asked("Plain", overwrite="Always"), tmp_path)
    after = published(place)
    assert {name: after[name] for name in before} == before


def test_the_file_says_what_it_is(place: Place, asked: Make, tmp_path: Path) -> None:
    """Facts follow what the worker wrote; two runs write the same bytes."""
    export(asked("Plain"), tmp_path)
    model = published(place)["model.onnx"]
    written = json.dumps({"data": DATA}).encode()
    facts = onnx.ModelProto.FromString(model.removeprefix(written))
    found = {entry.key: entry.value for entry in facts.metadata_props}
    assert found["modelexport.verdict"] == "Verified"
    assert found["modelexport.source.sha256"] == hashlib.sha256(CHECKPOINT).hexdigest()
    assert set(found) > {"modelexport.spec.sha256", "modelexport.version.torch"}
    assert not [value for value in found.values() if "/" in value]
    export(asked("Plain", overwrite="Always"), tmp_path)
    assert published(place)["model.onnx"] == model


def test_a_key_signs_the_provenance(
    place: Place, asked: Make, tmp_path: Path, key: Callable[[], Ed25519PrivateKey]
) -> None:
    assert not export(asked("Plain"), tmp_path).reused
    private = key()
    assert not export(asked("Plain"), tmp_path).reused, "it was not signed before"
    assert SIGNING_KEY_FILE_ENV not in os.environ
    found = published(place)
    assert set(found) == {*PLAIN, "provenance.intoto.jsonl"}
    manifest = check_whole(found)

    envelope = json.loads(found["provenance.intoto.jsonl"])
    public = SSlibKey.from_crypto(private.public_key(), manifest["signedBy"])
    Envelope.from_dict(envelope).verify([public], threshold=1)
    assert base64.b64decode(envelope["payload"]) == found["provenance.json"]
    secret = (tmp_path / "key.pem").read_text().splitlines()[1].encode()
    assert not [name for name, content in found.items() if secret in content]

    os.environ[SIGNING_KEY_FILE_ENV] = str(tmp_path / "key.pem")
    assert export(asked("Plain"), tmp_path).reused
    key()
    assert not export(asked("Plain"), tmp_path).reused, "it was signed by another key"


def test_a_key_that_cannot_sign_is_found_before_anything_is_done(
    place: Place, asked: Make, tmp_path: Path
) -> None:
    result = export(asked("Plain", signingSecretName="signing"), tmp_path)
    assert result.exit_code is ExitCode.DESTINATION
    assert result.failure is not None
    assert result.failure.reason is Reason.SIGNING_FAILED
    assert result.completed == []
    assert all(name.startswith("failed/") for name in published(place))


def check_reader_is_safe(found: dict[str, bytes]) -> None:
    """Whatever a manifest or a model.onnx speaks of is there."""
    for directory in ("", "1/"):
        model = found.get(f"{directory}model.onnx")
        if model is not None:
            graph, _ = json.JSONDecoder().raw_decode(model.decode(errors="replace"))
            assert directory + graph["data"] in found
    if "manifest.json" in found:
        contents = json.loads(found["manifest.json"])["contents"]
        assert {content["path"] for content in contents.values()} <= set(found)


@pytest.mark.parametrize("root", ["pvc", pytest.param("s3", marks=pytest.mark.s3)], indirect=True)
def test_killed_while_the_layout_changes_it_is_safe_to_read_and_to_run_again(
    place: Place, asked: Make, tmp_path: Path, key: Callable[[], Ed25519PrivateKey]
) -> None:
    export(asked("Plain"), tmp_path)
    key()
    with killed_runs(asked("Triton"), tmp_path / "work") as runs:
        for kill_at in range(60):
            code = runs.run(kill_at)
            if code != -signal.SIGKILL:
                break
            check_reader_is_safe(stored(place))
    assert code == 0
    assert kill_at > 10
    found = published(place)
    assert set(found) == {*TRITON, "provenance.intoto.jsonl"}
    assert check_whole(found)["layout"] == "Triton"
