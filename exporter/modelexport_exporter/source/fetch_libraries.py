"""Fetches the libraries of onnxruntime custom operators to this machine, for verification.

A file:/// path is a library of the image and is used in place, so that it finds the libraries in
its directory; an object is downloaded.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from modelexport_api.reasons import Reason
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.stored_object import StoredObject
from modelexport_exporter.storage.store import Location


def fetch_libraries(locations: list[Location], workspace: Path) -> tuple[Path, ...]:
    """Return a local path for each library. Raises ExportFailure."""
    return tuple(
        _fetch(location, workspace / "libraries" / str(position))
        for position, location in enumerate(locations)
    )


def find_library(location: Location) -> StoredObject:
    """Return the library at a location. Raises ExportFailure."""
    name = PurePosixPath(location.key).name
    found = location.store.stat(location.key) if not location.key.endswith("/") else None
    if found is None or not name:
        raise ExportFailure(
            Reason.CODE_INVALID,
            f"export.runtimeLibraries: {location.uri} was not found",
            "Upload the shared library, or correct the uri; file:/// names a file where the export "
            "runs.",
        )
    return found


def _fetch(location: Location, directory: Path) -> Path:
    found = find_library(location)
    in_place = location.store.local_path(location.key)
    if in_place is not None:
        return in_place
    directory.mkdir(parents=True)
    target = directory / PurePosixPath(location.key).name
    location.store.download(found, target, lambda _moved: None)
    return target
