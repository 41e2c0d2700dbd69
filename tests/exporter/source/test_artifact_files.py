"""An artifact that exists, on its way here: what is missing, changed or dangerous is named."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from modelexport_api.reasons import Reason
from modelexport_api.spec import ModelExportSpec, Storage
from modelexport_api.status import Stage
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.source.artifact_files import fetch_artifact, find_artifact
from modelexport_exporter.storage.store import Location
from modelexport_exporter.workers.artifact import read_external_names

Place = Callable[..., Location]


def silent(_stage: Stage, _fraction: float, _message: str) -> None:
    """Ignore progress."""


def names(path: Path) -> tuple[str, ...]:
    return read_external_names(path, silent)


def put(place: Place, name: str, content: bytes) -> None:
    where = place(name)
    where.store.write(where.key, content)


def model(location: str | None = None) -> bytes:
    """A graph that adds a weight, from an external file where one is named."""
    weight = onnx.numpy_helper.from_array(np.ones(2, np.float32), "w")
    if location is not None:
        weight.data_location = onnx.TensorProto.EXTERNAL
        weight.ClearField("raw_data")
        weight.external_data.add(key="location", value=location)
    value, kind = onnx.helper.make_tensor_value_info, onnx.TensorProto.FLOAT
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("Add", ["x", "w"], ["y"])],
        "g",
        [value("x", kind, [2])],
        [value("y", kind, [2])],
        [weight],
    )
    content: bytes = onnx.helper.make_model(graph).SerializeToString()
    return content


@pytest.fixture
def spec(root: str, storage: Storage) -> Callable[..., ModelExportSpec]:
    def made(**changes: Any) -> ModelExportSpec:  # noqa: ANN401
        return ModelExportSpec.model_validate(
            {
                "mode": "Verify",
                "source": {"uri": f"{root}model.pt"},
                "storage": storage.to_wire(),
                "inputs": [{"name": "x", "shape": [2]}],
                "destination": {"uri": f"{root}out"},
                **changes,
            }
        )

    return made


def failure(spec: ModelExportSpec, tmp_path: Path) -> str:
    with pytest.raises(ExportFailure) as caught:
        fetch_artifact(find_artifact(spec), tmp_path / "here", silent, names)
    assert caught.value.reason is Reason.ARTIFACT_INVALID
    return caught.value.message


def test_a_file_and_its_data_are_brought(
    place: Place, spec: Callable[..., ModelExportSpec], tmp_path: Path, root: str
) -> None:
    put(place, "a/m.onnx", model("data/w.bin"))
    put(place, "a/data/w.bin", bytes(8))
    artifact = find_artifact(spec(artifact={"uri": f"{root}a/m.onnx"}))
    files = fetch_artifact(artifact, tmp_path / "here", silent, names)
    assert [file.name for file in files] == ["m.onnx", "data/w.bin"]
    assert files[1].sha256 == hashlib.sha256(bytes(8)).hexdigest()
    assert (tmp_path / "here" / "data" / "w.bin").read_bytes() == bytes(8)


@pytest.mark.parametrize("location", ["../secret", "/etc/passwd", "data/../../secret"])
def test_data_outside_of_the_directory_is_never_read(
    place: Place, spec: Callable[..., ModelExportSpec], tmp_path: Path, root: str, location: str
) -> None:
    put(place, "secret", b"secret")
    put(place, "a/m.onnx", model(location))
    message = failure(spec(artifact={"uri": f"{root}a/m.onnx"}), tmp_path)
    assert "leads out of the directory" in message
    assert [path.name for path in (tmp_path / "here").rglob("*")] == ["m.onnx"]


def test_what_is_missing_is_named(
    place: Place, spec: Callable[..., ModelExportSpec], tmp_path: Path, root: str
) -> None:
    assert f"{root}out/manifest.json not found" in failure(spec(), tmp_path)
    asked = spec(artifact={"uri": f"{root}a/m.onnx"})
    assert f"{root}a/m.onnx not found" in failure(asked, tmp_path)
    assert "is a directory" in failure(spec(artifact={"uri": f"{root}a/"}), tmp_path)
    put(place, "a/m.onnx", model("w.bin"))
    assert f"{root}a/w.bin not found" in failure(asked, tmp_path)
    put(place, "out/manifest.json", b"{}")
    assert "is not the manifest of an artifact" in failure(spec(), tmp_path)


@pytest.mark.parametrize("content", [b"", b"\x08", b"not a model", b"{}"])
def test_what_is_no_onnx_file_is_refused(
    place: Place, spec: Callable[..., ModelExportSpec], tmp_path: Path, root: str, content: bytes
) -> None:
    put(place, "a/m.onnx", content)
    message = failure(spec(artifact={"uri": f"{root}a/m.onnx"}), tmp_path)
    assert "m.onnx is not an ONNX file" in message


def test_another_digest_is_refused(
    place: Place, spec: Callable[..., ModelExportSpec], tmp_path: Path, root: str
) -> None:
    put(place, "a/m.onnx", model())
    asked = spec(artifact={"uri": f"{root}a/m.onnx", "sha256": "0" * 64})
    assert f"expected {'0' * 64}" in failure(asked, tmp_path)


@pytest.mark.parametrize("prefix", ["", "1/"], ids=["Plain", "Triton"])
def test_the_digests_of_a_manifest_count_for_every_file(
    place: Place, spec: Callable[..., ModelExportSpec], tmp_path: Path, root: str, prefix: str
) -> None:
    data = "model.0123456789ab.data"
    contents = {f"{prefix}model.onnx": model(data), f"{prefix}{data}": bytes(8)}
    for name, content in contents.items():
        put(place, f"out/{name}", content)
    put(place, "out/manifest.json", manifest(f"{root}out/", contents))
    artifact = find_artifact(spec())
    assert artifact.uri == f"{root}out/{prefix}model.onnx"
    assert len(fetch_artifact(artifact, tmp_path / "there", silent, names)) == 2
    put(place, f"out/{prefix}{data}", bytes(7) + b"x")
    assert f"{prefix}{data} has sha256" in failure(spec(), tmp_path)


def manifest(uri: str, contents: dict[str, bytes]) -> bytes:
    files: list[dict[str, Any]] = [
        {"name": name, "sha256": hashlib.sha256(content).hexdigest(), "sizeBytes": len(content)}
        for name, content in contents.items()
    ]
    verification = {
        "verdict": "Verified",
        "provider": "CPU",
        "samples": 1,
        "maxAbsError": 0,
        "maxRelError": 0,
        "toleranceSource": "Default",
    }
    artifact = {
        "uri": uri + files[0]["name"],
        "sha256": files[0]["sha256"],
        "sizeBytes": 1,
        "opset": 20,
        "irVersion": 10,
        "exporter": "e",
        "inputs": [],
        "outputs": [],
        "files": files,
    }
    return json.dumps(
        {
            "created": "2026-01-01T00:00:00Z",
            "resource": {"name": "m"},
            "source": {"uri": "u", "fingerprint": "f", "sha256": "s", "files": []},
            "specSha256": "s",
            "artifact": artifact,
            "verification": verification,
        }
    ).encode()
