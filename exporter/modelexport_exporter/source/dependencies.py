"""The dependencies of an export besides its checkpoint: code, recorded inputs, runtime libraries.

All checkpoints of a batch share them; they are fetched once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from modelexport_api.spec import ModelExportSpec
from modelexport_exporter.core import digests as identity
from modelexport_exporter.core.dependency import Dependency
from modelexport_exporter.source.fetch_code import fetch_code
from modelexport_exporter.source.fetch_inputs import (
    CALIBRATION,
    GOLDEN,
    RecordedInputs,
    fetch_inputs,
)
from modelexport_exporter.source.fetch_libraries import fetch_libraries
from modelexport_exporter.storage.locate import Stores


@dataclass(frozen=True)
class Dependencies:
    """Paths on this machine, and digests."""

    code_dir: Path | None
    code_sha256: str | None
    inputs: Mapping[str, RecordedInputs]
    libraries: tuple[Path, ...]
    """Of custom operators for onnxruntime."""
    library_digests: tuple[str, ...]
    dependencies: tuple[Dependency, ...]
    """All of them, as in the provenance."""

    @property
    def content_digests(self) -> dict[str, object]:
        """Return the digests of all files, by the fields of the spec that refer to them."""
        found: dict[str, object] = {name: entry.sha256 for name, entry in self.inputs.items()}
        if self.code_sha256 is not None:
            found["code"] = self.code_sha256
        if self.library_digests:
            found["runtimeLibraries"] = list(self.library_digests)
        return found

    @property
    def golden_inputs(self) -> Path | None:
        """Return the file of verification.goldenInputs."""
        return self._path(GOLDEN)

    @property
    def calibration_inputs(self) -> Path | None:
        """Return the file of export.calibrationInputs."""
        return self._path(CALIBRATION)

    def _path(self, name: str) -> Path | None:
        entry = self.inputs.get(name)
        return entry.path if entry else None


def gather(spec: ModelExportSpec, directory: Path) -> Dependencies:
    """Fetch all dependencies into a directory. Raises ExportFailure."""
    stores = Stores(spec)
    dependencies = []
    code_dir = code_sha256 = None
    if spec.model is not None and spec.model.code is not None:
        code = stores.code(spec.model.code.uri)
        code_dir = fetch_code(code, directory, spec)
        code_sha256 = identity.directory_digest(code_dir)
        dependencies.append(Dependency(code.uri, {identity.DIRECTORY_DIGEST: code_sha256}))
    inputs = fetch_inputs(spec, directory)
    dependencies += [Dependency(entry.uri, {"sha256": entry.sha256}) for entry in inputs.values()]
    places = [stores.code(uri) for uri in spec.export.runtime_libraries]
    libraries = fetch_libraries(places, directory)
    digests = tuple(identity.sha256_file(path) for path in libraries)
    dependencies += [
        Dependency(where.uri, {"sha256": digest})
        for where, digest in zip(places, digests, strict=True)
    ]
    return Dependencies(code_dir, code_sha256, inputs, libraries, digests, tuple(dependencies))
