"""Fetches the code that builds the model into the workspace.

The archive is untrusted: nothing is written outside the workspace, links are refused, and an
archive that would unpack to too many or too large files is refused before it fills the disk.
"""

from __future__ import annotations

import contextlib
import shutil
import stat
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from modelexport_api.reasons import Reason
from modelexport_api.spec import ModelExportSpec
from modelexport_exporter.core.archives import ArchiveTooLargeError, check_archive
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.stored_object import StoredObject
from modelexport_exporter.source.code_files import (
    IGNORE_FILE,
    code_files,
    destination_pattern,
    source_patterns,
)
from modelexport_exporter.storage.errors import from_os_error
from modelexport_exporter.storage.store import Location, Role

MAX_FILES = 10_000
MAX_BYTES = 512 * 1024 * 1024
_CHUNK = 1024 * 1024


def fetch_code(location: Location, workspace: Path, spec: ModelExportSpec | None = None) -> Path:
    """Return a directory in the workspace whose root can be put on the import path.

    `spec`: what names the checkpoint and the destination, which are no code. A zip is taken whole.
    """
    target = workspace / "code"
    target.mkdir(parents=True)
    if location.key.endswith("/"):
        _copy_directory(location, target, spec)
    else:
        _unpack(location, target, workspace / "code.zip")
    return target


def check_code(location: Location) -> None:
    """Raise ExportFailure if there is no code: no file in a directory, or no readable zip file."""
    if location.key.endswith("/"):
        if not location.store.names(location.key, 1):
            raise _invalid(f"{location.uri} has no files", "Correct spec.model.code.uri.")
        return
    _find(location)
    archive = location.store.local_path(location.key)
    if archive is not None:
        with _open_archive(archive, location.uri) as opened:
            opened.namelist()


def _copy_directory(location: Location, target: Path, spec: ModelExportSpec | None) -> None:
    listed = location.store.list_all(location.key)
    known = {_relative(found, location).as_posix(): found for found in listed}
    names = code_files(
        list(known),
        {name: _text(known[name], location) for name in known if _is_ignore_file(name)},
        source_patterns(spec, location.uri) if spec else (),
        destination_pattern(spec, location.uri) if spec else None,
    )
    files = {name: known[name] for name in names}
    if not files:
        raise _invalid(f"{location.uri} has no files", "Correct spec.model.code.uri.")
    _check_size(location.uri, len(files), sum(found.size_bytes for found in files.values()))
    for name, found in files.items():
        path = target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        location.store.download(found, path, lambda _moved: None)


def _is_ignore_file(name: str) -> bool:
    return PurePosixPath(name).name == IGNORE_FILE


def _text(found: StoredObject, location: Location) -> str:
    answer = location.store.read(found.key)
    return answer[0].decode(errors="replace") if answer else ""


def _relative(found: StoredObject, location: Location) -> PurePosixPath:
    return _safe(found.key.removeprefix(location.key), location.uri)


def _find(location: Location) -> StoredObject:
    found = location.store.stat(location.key)
    if found is None:
        is_directory = bool(location.store.names(location.as_directory().key, 1))
        problem = "is a directory" if is_directory else "was not found"
        hint = (
            "End spec.model.code.uri with / for a directory."
            if is_directory
            else "Upload it, or correct spec.model.code.uri."
        )
        raise _invalid(f"the model's code {location.uri} {problem}", hint)
    return found


def _unpack(location: Location, target: Path, download: Path) -> None:
    found = _find(location)
    _check_size(location.uri, 1, found.size_bytes)
    archive = location.store.local_path(location.key)
    if archive is None:
        location.store.download(found, download, lambda _moved: None)
        archive = download
    try:
        with _open_archive(archive, location.uri) as opened:
            members = [member for member in opened.infolist() if not member.is_dir()]
            _check_size(location.uri, len(members), sum(member.file_size for member in members))
            for member in members:
                _extract(opened, member, target, location.uri)
    finally:
        download.unlink(missing_ok=True)


@contextlib.contextmanager
def _open_archive(path: Path, uri: str) -> Iterator[zipfile.ZipFile]:
    try:
        check_archive(path, inflated=None)
        with zipfile.ZipFile(path) as opened:
            yield opened
    except ArchiveTooLargeError as error:
        raise _invalid(
            f"{uri} cannot be unpacked: {error}", "Zip only the code that builds the module."
        ) from error
    except (zipfile.BadZipFile, zipfile.LargeZipFile, NotImplementedError, RuntimeError) as error:
        raise _invalid(
            f"{uri} is not a zip file that can be unpacked: {error}",
            "Upload a zip without a password, or a directory (its uri ends in /).",
        ) from error


def _extract(archive: zipfile.ZipFile, member: zipfile.ZipInfo, target: Path, uri: str) -> None:
    if stat.S_ISLNK(member.external_attr >> 16):
        raise _invalid(f"{uri} contains a link: {member.filename}", "Zip the files themselves.")
    path = target / _safe(member.filename, uri)
    if any(parent.is_file() for parent in path.parents):
        raise _invalid(f"{uri}: {member.filename} is below a file", "Zip the code again.")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # zipfile stops at the size that the archive's directory declares.
        with archive.open(member) as reader, path.open("xb") as writer:
            shutil.copyfileobj(reader, writer, _CHUNK)
    except FileExistsError:
        raise _invalid(f"{uri} contains {member.filename} twice", "Zip each file once.") from None
    except OSError as error:
        raise from_os_error(error, Role.CODE, str(path)) from error


def _safe(name: str, uri: str) -> PurePosixPath:
    """Return a name as a relative path that stays below its root."""
    path = PurePosixPath(name.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts or "\0" in name or not path.parts:
        raise _invalid(
            f"{uri} contains a file outside of its root: {name!r}",
            "Zip the code from inside its root directory.",
        )
    return path


def _check_size(uri: str, files: int, size: int) -> None:
    if files > MAX_FILES or size > MAX_BYTES:
        raise _invalid(
            f"{uri} contains {files} files of {size / 1e6:.0f} MB; allowed are {MAX_FILES} files "
            f"and {MAX_BYTES / 1e6:.0f} MB",
            "Include only the code that builds the module; weights belong in spec.source.",
        )


def _invalid(message: str, hint: str) -> ExportFailure:
    return ExportFailure(Reason.CODE_INVALID, message, hint)
