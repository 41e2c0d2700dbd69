"""Digests of what an artifact was made from: the key by which finished work is recognized.

Pure. Two exports with the same source digest and the same spec digest are the same work, for any
user and any location of the source; anything that changes the artifact or its verification changes
a digest.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from modelexport_api.spec import ModelExportSpec
from modelexport_exporter.core.stored_object import StoredObject
from modelexport_exporter.core.types import SourceFile

DIRECTORY_DIGEST = "modelexport.dev/directory-v1"
"""The algorithm of `directory_digest`, as provenance statements name it."""

NOT_THE_WORK = frozenset(
    {
        # The checkpoint: its content has a digest of its own.
        *("source.uri", "source.uris", "source.sha256", "source.versionId"),
        # Where files are. `manifest.decide` compares layout and signing key.
        *("storage.endpoint", "storage.region", "storage.addressingStyle", "storage.secretName"),
        *("destination.uri", "destination.layout", "destination.overwrite"),
        *("destination.signingSecretName", "artifact.uri", "artifact.sha256"),
        # How the Job runs.
        *("parallelism", "maxFailed", "backoffLimit", "activeDeadlineSeconds", "suspend"),
        *("pendingDeadlineSeconds", "ttlSecondsAfterFinished", "serviceAccountName"),
        *("podTemplate", "model.network"),
    }
)
"""Fields of the spec that do not determine the artifact or its verification.

Each is a field that holds no others: a field that somebody adds below `destination` counts, too,
until it is listed here.
"""
BY_CONTENT = frozenset(
    {
        *("model.code.uri", "export.calibrationInputs", "export.runtimeLibraries"),
        "verification.goldenInputs",
    }
)
"""Fields that refer to other files: what counts is the content of these."""
_FREE_FORM = frozenset({"model.kwargs", "export.customOpsets", "dims"})
"""Fields whose keys are the user's."""
_SCHEMA = 2
_VERSIONED = ("modelexport", "torch", "onnx", "onnxscript", "onnxruntime-gpu", "onnxruntime")


@dataclass(frozen=True)
class SourceIdentity:
    """The source as its store describes it, before a byte of it is read."""

    uri: str
    files: tuple[StoredObject, ...]

    @property
    def size_bytes(self) -> int:
        """Return the size of all files."""
        return sum(found.size_bytes for found in self.files)

    @property
    def fingerprint(self) -> str:
        """Return a digest that changes when the stored content may have changed."""
        files = [
            [found.key, found.size_bytes, found.etag, found.version_id] for found in self.files
        ]
        return digest_of({"uri": self.uri, "files": files})


def source_digest(files: Iterable[SourceFile]) -> str:
    """Return the digest of the checkpoint's content: the file's own where there is only one."""
    ordered = sorted(files, key=lambda file: file.name)
    if len(ordered) == 1:
        return ordered[0].sha256
    return digest_of([[file.name, file.sha256] for file in ordered])


def spec_digest(
    spec: ModelExportSpec, contents: Mapping[str, object], versions: Mapping[str, str]
) -> str:
    """Return the digest of everything but the checkpoint's content that determines the artifact.

    It covers the whole spec less `NOT_THE_WORK`, so that a new field is part of the work until
    somebody decides otherwise. `contents`: digests of what the fields of `BY_CONTENT` refer to.
    """
    work = work_of(spec.to_wire())
    return digest_of({"schema": _SCHEMA, "spec": work, "contents": contents, "versions": versions})


def work_of(fields: Mapping[str, Any], path: str = "") -> dict[str, Any]:
    """Return the fields below a path less those that do not determine the artifact."""
    kept = {}
    for name, value in fields.items():
        where = f"{path}{name}"
        if where in NOT_THE_WORK or where in BY_CONTENT:
            continue
        nested = isinstance(value, Mapping) and where not in _FREE_FORM
        kept[name] = work_of(value, f"{where}.") if nested else value
    return {name: value for name, value in kept.items() if value != {}}


def directory_digest(root: Path) -> str:
    """Return the digest of all files below a directory, by relative name and content."""
    files = [path for path in sorted(root.rglob("*")) if path.is_file()]
    return digest_of([[path.relative_to(root).as_posix(), sha256_file(path)] for path in files])


def sha256_file(path: Path) -> str:
    """Return a file's digest in hex; releases the interpreter while it computes."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def digest_of(value: object) -> str:
    """Return the digest of a value's canonical JSON."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def installed_versions() -> dict[str, str]:
    """Return the versions of what determines an artifact, without importing any of it."""
    versions = {}
    for name in _VERSIONED:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return versions
