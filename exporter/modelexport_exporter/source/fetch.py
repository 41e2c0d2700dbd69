"""Fetches the checkpoint to this machine, and identifies it before anything is loaded.

Local files are used in place; objects are downloaded, pinned to the version that was identified.
Digests are computed during the export, or before it if the spec pins one.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from modelexport_api.nearest import nearest
from modelexport_api.reasons import Reason
from modelexport_api.spec import Source
from modelexport_api.status import Stage
from modelexport_exporter.checkpoint import files as checkpoint_files
from modelexport_exporter.checkpoint.archive_records import sha256_and_records
from modelexport_exporter.core.digests import SourceIdentity
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.progress import ByteCounter
from modelexport_exporter.core.stored_object import StoredObject
from modelexport_exporter.core.types import ReportProgress, SourceFile
from modelexport_exporter.storage import errors as storage_errors
from modelexport_exporter.storage.store import Location

_NEIGHBOURS = 100


@dataclass(frozen=True)
class Fetched:
    """The checkpoint on this machine; its digests may still be computed."""

    checkpoint: Path
    digests: Callable[[], tuple[SourceFile, ...]]
    """Waits for the digests of all files, and returns them."""
    digests_within: Callable[[float], tuple[SourceFile, ...]]
    """Waits for them so many seconds; returns none if they are not known then."""
    paths: tuple[Path, ...] = ()
    """The files, in the order of the identity's."""


@dataclass(frozen=True)
class Kept:
    """A checkpoint that this process has fetched before, and whose files are still there."""

    identity: SourceIdentity
    fetched: Fetched


def identify(location: Location, source: Source) -> SourceIdentity:
    """Return the source as its store describes it. Raises ExportFailure if it does not exist."""
    if location.key.endswith("/") or not location.key:
        return SourceIdentity(location.uri, tuple(_directory(location, source)))
    found = location.store.stat(location.key, source.version_id)
    if found is None:
        raise _not_found(location, source)
    return SourceIdentity(location.uri, (found,))


def _directory(location: Location, source: Source) -> list[StoredObject]:
    names = location.store.names(location.key)
    if not names:
        raise _not_found(location, None)
    contents = checkpoint_files.choose(names, source.format, location.uri)
    single = [name for name in contents.files if name != contents.index]
    found = [_file(location.child(name)) for name in single]
    return found if contents.index is None else found + _indexed(location, contents.index)


def _indexed(location: Location, index: str) -> list[StoredObject]:
    """Return the index of a directory, and its shards."""
    where = location.child(index)
    answer = where.store.read(where.key)
    if answer is None:
        raise storage_errors.replaced(where.uri)
    content, found = answer
    shards = checkpoint_files.shards(content, where.uri)
    return [found, *(_file(location.child(name)) for name in shards)]


def _file(location: Location) -> StoredObject:
    found = location.store.stat(location.key)
    if found is None:
        raise ExportFailure(
            Reason.SOURCE_NOT_FOUND,
            f"{location.uri} not found, but the checkpoint's index refers to it",
            "Wait until the training job has written all shards, or save the checkpoint again.",
        )
    return found


def _not_found(location: Location, source: Source | None) -> ExportFailure:
    if source is not None and source.version_id:
        return ExportFailure(
            Reason.SOURCE_NOT_FOUND,
            f"{location.uri} has no version {source.version_id}",
            "Correct spec.source.versionId, or omit it for the newest version.",
        )
    directory = location.as_directory()
    if directory != location and location.store.names(directory.key, 1):
        return ExportFailure(
            Reason.SOURCE_NOT_FOUND,
            f"{location.uri} is a directory",
            "End spec.source.uri with / for a directory of shards, a Hugging Face model or a "
            "DistributedCheckpoint; or name a file.",
        )
    parent = location.key.rstrip("/").rpartition("/")[0]
    prefix = f"{parent}/" if parent or location.key.startswith("/") else ""
    names = location.store.names(prefix, _NEIGHBOURS)
    return ExportFailure(
        Reason.SOURCE_NOT_FOUND,
        f"{location.uri} not found; {location.store.uri(prefix)}: "
        f"{checkpoint_files.describe_names(names)}",
        f"{_did_you_mean(location, names)}Correct spec.source.uri, or wait until the training job "
        "has written it.",
    )


def _did_you_mean(location: Location, names: list[str]) -> str:
    parent, slash, own = location.key.rstrip("/").rpartition("/")
    by_name = {name.rstrip("/"): name for name in names}
    near = nearest(own, by_name)
    if near is None:
        return ""
    return f"Did you mean {location.store.uri(f'{parent}{slash}{by_name[near]}')}? "


def fetch(
    location: Location,
    identity: SourceIdentity,
    source: Source,
    directory: Path,
    report: ReportProgress,
) -> Fetched:
    """Make the checkpoint available as a file or directory; check a pinned digest."""
    is_directory = location.key.endswith("/")
    in_place = location.store.local_path(location.key)
    if in_place is not None:
        paths = [Path(found.key) for found in identity.files]
        checkpoint = in_place
    else:
        paths = _download(location, identity, directory, report)
        checkpoint = directory if is_directory else paths[0]
    report(Stage.FETCH, 1.0, f"{identity.size_bytes / 1e6:.1f} MB")
    digests = _start_digests(paths)
    if source.sha256 is not None:
        _check_pin(location, source.sha256, digests.result()[0])

    def digests_within(seconds: float) -> tuple[SourceFile, ...]:
        done, _ = wait([digests], seconds)
        return digests.result() if done else ()

    return Fetched(checkpoint, digests.result, digests_within, tuple(paths))


def _download(
    location: Location, identity: SourceIdentity, directory: Path, report: ReportProgress
) -> list[Path]:
    directory.mkdir(parents=True, exist_ok=True)
    counter = ByteCounter(report, Stage.FETCH, identity.size_bytes, "downloaded")
    paths = []
    try:
        for found in identity.files:
            target = directory / PurePosixPath(found.key).name
            location.store.download(found, target, counter)
            paths.append(target)
    except BaseException:
        counter.abandon()
        raise
    return paths


def _start_digests(paths: list[Path]) -> Future[tuple[SourceFile, ...]]:
    pool = ThreadPoolExecutor(1, thread_name_prefix="digest")
    future = pool.submit(lambda: tuple(_source_file(path) for path in paths))
    pool.shutdown(wait=False)
    return future


def _source_file(path: Path) -> SourceFile:
    return SourceFile(path.name, path.stat().st_size, sha256_and_records(path))


def _check_pin(location: Location, expected: str, found: SourceFile) -> None:
    if found.sha256 != expected:
        raise ExportFailure(
            Reason.DIGEST_MISMATCH,
            f"{location.uri} has sha256 {found.sha256}, spec.source.sha256 says {expected}",
            "Correct spec.source.sha256, or find out why the checkpoint was replaced.",
        )


def check_unchanged(location: Location, identity: SourceIdentity) -> None:
    """Raise ExportFailure if a file that is used in place has changed since it was identified."""
    for found in identity.files:
        path = location.store.local_path(found.key)
        if path is not None and location.store.stat(found.key) != found:
            raise storage_errors.replaced(location.store.uri(found.key))
