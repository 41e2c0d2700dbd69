"""Fetches an existing artifact to this machine, and checks it against known digests.

Its files are copied, also from a file system, so that the checked files are the verified ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from modelexport_api.reasons import Reason
from modelexport_api.spec import ModelExportSpec
from modelexport_api.status import Stage
from modelexport_exporter.core.digests import sha256_file
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.progress import ByteCounter
from modelexport_exporter.core.types import ReportProgress, WrittenFile
from modelexport_exporter.publish import manifest as manifests
from modelexport_exporter.publish.manifest import MANIFEST_NAME
from modelexport_exporter.storage.locate import Stores
from modelexport_exporter.storage.store import Location

_WRONG_DIGEST = (
    "The file was replaced after it was published: find out by whom, and publish it again."
)


@dataclass(frozen=True)
class ExistingArtifact:
    """An ONNX file, and the known digests of its files."""

    directory: Location
    name: str
    digests: Mapping[str, str] = field(default_factory=dict)
    """SHA-256 by name relative to the directory, as far as they are known."""

    @property
    def uri(self) -> str:
        """Return the URI of the ONNX file."""
        return self.directory.child(self.name).uri


def find_artifact(spec: ModelExportSpec) -> ExistingArtifact:
    """Return the artifact to verify: the one of the spec, or of the destination's manifest."""
    stores = Stores(spec)
    if spec.artifact is None:
        return _published(stores.artifact(spec.destination.uri))
    location = stores.artifact(spec.artifact.uri)
    path = PurePosixPath(location.key)
    if location.key.endswith("/") or not path.name:
        raise ExportFailure(
            Reason.ARTIFACT_INVALID,
            f"{location.uri} is a directory",
            "spec.artifact.uri must name the ONNX file itself.",
        )
    digests = {path.name: spec.artifact.sha256} if spec.artifact.sha256 else {}
    return ExistingArtifact(_parent(location), path.name, digests)


def _published(destination: Location) -> ExistingArtifact:
    """Return the artifact that a manifest describes, in any layout."""
    where = destination.child(MANIFEST_NAME)
    answer = where.store.read(where.key)
    manifest = manifests.parse(answer[0]) if answer else None
    if manifest is None:
        raise ExportFailure(
            Reason.ARTIFACT_INVALID,
            f"{where.uri} {'is not the manifest of an artifact' if answer else 'not found'}",
            "Name the ONNX file in spec.artifact.uri, or correct spec.destination.uri.",
        )
    model = next(
        file.name for file in manifest.artifact.files if file.sha256 == manifest.artifact.sha256
    )
    prefix = f"{PurePosixPath(model).parent}/" if "/" in model else ""
    digests = {
        file.name.removeprefix(prefix): file.sha256
        for file in manifest.artifact.files
        if file.name.startswith(prefix)
    }
    directory = _parent(destination.child(model))
    return ExistingArtifact(directory, model.removeprefix(prefix), digests)


def _parent(location: Location) -> Location:
    return Location(location.store, location.key[: location.key.rfind("/") + 1])


def download(
    artifact: ExistingArtifact, name: str, target: Path, report: ReportProgress
) -> WrittenFile:
    """Download one file of the artifact. Raises ExportFailure."""
    where = artifact.directory.child(name)
    found = where.store.stat(where.key)
    if found is None:
        raise ExportFailure(
            Reason.ARTIFACT_INVALID,
            f"{where.uri} not found",
            "The ONNX file refers to it as external data: publish both together."
            if name != artifact.name
            else "Correct spec.artifact.uri.",
        )
    path = target / name
    path.parent.mkdir(parents=True, exist_ok=True)
    counter = ByteCounter(report, Stage.FETCH, found.size_bytes, "downloaded")
    where.store.download(found, path, counter)
    digest = sha256_file(path)
    expected = artifact.digests.get(name)
    if expected is not None and digest != expected:
        raise ExportFailure(
            Reason.ARTIFACT_INVALID,
            f"{where.uri} has sha256 {digest}, expected {expected}",
            _WRONG_DIGEST,
        )
    return WrittenFile(name, found.size_bytes, digest)


def fetch_artifact(
    artifact: ExistingArtifact,
    target: Path,
    report: ReportProgress,
    external_names: Callable[[Path], tuple[str, ...]],
) -> tuple[WrittenFile, ...]:
    """Fetch all files of the artifact; the model says which ones belong to it."""
    model = download(artifact, artifact.name, target, report)
    others = external_names(target / artifact.name)
    return (model, *(download(artifact, name, target, report) for name in others))
