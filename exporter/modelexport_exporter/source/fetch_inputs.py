"""Fetches the files of recorded inputs to this machine: golden samples, calibration samples.

They determine the artifact and its verdict, so their content, not their location, is part of the
spec's digest; so they are fetched before it is known whether the work was done already.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from modelexport_api.reasons import Reason
from modelexport_api.spec import ModelExportSpec
from modelexport_exporter.core.digests import sha256_file
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.stored_object import StoredObject
from modelexport_exporter.storage.locate import Stores
from modelexport_exporter.storage.store import Location

GOLDEN = "goldenInputs"
CALIBRATION = "calibrationInputs"


@dataclass(frozen=True)
class RecordedInputs:
    """A file of inputs on this machine."""

    uri: str
    path: Path
    sha256: str


def fetch_inputs(spec: ModelExportSpec, directory: Path) -> Mapping[str, RecordedInputs]:
    """Return the files that the spec names, by the field that names them. Raises ExportFailure."""
    return {
        field: _fetch(path, uri, spec, directory / field)
        for field, (path, uri) in recorded_inputs(spec).items()
    }


def recorded_inputs(spec: ModelExportSpec) -> Mapping[str, tuple[str, str]]:
    """Return path and URI of the fields that name a file of inputs, by their names."""
    uris = {
        GOLDEN: (f"verification.{GOLDEN}", spec.verification.golden_inputs),
        CALIBRATION: (f"export.{CALIBRATION}", spec.export.calibration_inputs),
    }
    return {field: (path, uri) for field, (path, uri) in uris.items() if uri is not None}


def find_inputs(field: str, location: Location) -> StoredObject:
    """Return the file that a field names. Raises ExportFailure."""
    found = location.store.stat(location.key) if not location.key.endswith("/") else None
    if found is None:
        raise ExportFailure(
            Reason.SAMPLES_INVALID,
            f"{field}: {location.uri} was not found",
            f"Upload the .npz or .safetensors file, or correct {field}.",
        )
    return found


def _fetch(field: str, uri: str, spec: ModelExportSpec, directory: Path) -> RecordedInputs:
    location = Stores(spec).source(uri)
    name = PurePosixPath(location.key).name
    found = find_inputs(field, location)
    directory.mkdir()
    target = directory / name
    location.store.download(found, target, lambda _moved: None)
    return RecordedInputs(location.uri, target, sha256_file(target))
