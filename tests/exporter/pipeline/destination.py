"""A run of the pipeline with small workers, and what it leaves at its destination."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from killed_run import SETTINGS
from modelexport_api.pod import PodResult
from modelexport_api.resource import ModelExport
from modelexport_exporter.core.log import JsonLog
from modelexport_exporter.pipeline.context import Settings
from modelexport_exporter.pipeline.run import run
from modelexport_exporter.publish.layout import is_content, is_data
from modelexport_exporter.storage.store import Location

Place = Callable[..., Location]
Make = Callable[..., ModelExport]
CHECKPOINT = b"weights" * 1000


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
