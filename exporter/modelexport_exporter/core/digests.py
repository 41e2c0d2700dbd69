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
from types import MappingProxyType
from typing import Any

from modelexport_api.spec import ModelExportSpec
from modelexport_exporter.core.stored_object import StoredObject
from modelexport_exporter.core.types import SourceFile

DIRECTORY_DIGEST = "modelexport.dev/directory-v1"
"""The algorithm of `directory_digest`, as provenance statements name it."""

_SCHEMA = 1
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
    spec: ModelExportSpec,
    code_digest: str | None,
    versions: dict[str, str],
    inputs: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """Return the digest of everything but the source's content that determines the artifact.

    `inputs`: the digests of recorded inputs, by the fields that name them.

    Excluded on purpose: locations (source.uri, storage, destination), and how the Job is run. The
    source's content has a digest of its own; the layout and the signing key change what is
    published but not the model, so `manifest.decide` compares them separately.
    """
    wire = spec.to_wire()
    return digest_of(
        {
            "schema": _SCHEMA,
            "source": {
                key: value
                for key, value in wire["source"].items()
                if key in {"format", "stateDictKey"}
            },
            "factory": (wire.get("model") or {}).get("factory"),
            "kwargs": (wire.get("model") or {}).get("kwargs"),
            "code": code_digest,
            "inputs": wire["inputs"],
            "dims": wire.get("dims", {}),
            "outputs": wire.get("outputs", []),
            "export": _with_content(wire.get("export", {}), inputs),
            "verification": _with_content(wire.get("verification", {}), inputs),
            "versions": versions,
        }
    )


def _with_content(fields: dict[str, Any], inputs: Mapping[str, str]) -> dict[str, Any]:
    """Return the fields with digests where they name recorded inputs."""
    return {key: inputs.get(key, value) for key, value in fields.items()}


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
