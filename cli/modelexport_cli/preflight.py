"""What can be known of an export before torch is imported, in the exporter's words.

Only files of this machine are looked at: nothing is downloaded, and no code of the user runs.
"""

from __future__ import annotations

import errno
import os
import zipfile
from collections.abc import Iterator
from pathlib import Path

from modelexport_api.reasons import Reason
from modelexport_api.rules import NEEDS_FACTORY
from modelexport_api.spec import Mode, ModelExportSpec
from modelexport_api.status import FAILURE_HINT_LIMIT, FAILURE_MESSAGE_LIMIT, Failure, Stage
from modelexport_cli.code_on_disk import code_at
from modelexport_cli.named_callables import callables_of, require_callable
from modelexport_exporter.checkpoint.formats import detect
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.source.artifact_files import find_artifact
from modelexport_exporter.source.fetch import identify
from modelexport_exporter.source.fetch_code import check_code
from modelexport_exporter.source.fetch_inputs import find_inputs, recorded_inputs
from modelexport_exporter.source.fetch_libraries import find_library
from modelexport_exporter.storage.errors import from_os_error
from modelexport_exporter.storage.locate import Stores
from modelexport_exporter.storage.store import Role
from modelexport_exporter.user_code.missing_names import no_factory

_LOCAL = "file://"
_PLACEHOLDER = "{"


def preflight(spec: ModelExportSpec, *, publishes: bool = True) -> Failure | None:
    """Return why an export would fail, with a line for each cause; None if no cause is known."""
    found = list(_failures(spec, publishes=publishes))
    if not found:
        return None
    messages = dict.fromkeys(one.describe().message for one in found)
    hints = dict.fromkeys(one.describe().hint for one in found)
    return Failure(
        reason=found[0].reason,
        message="\n".join(messages)[:FAILURE_MESSAGE_LIMIT],
        hint=" ".join(hints)[:FAILURE_HINT_LIMIT],
        stage=found[0].stage or Stage.FETCH,
    )


def _failures(spec: ModelExportSpec, *, publishes: bool) -> Iterator[ExportFailure]:
    checks = (_source, _code, _callables, _inputs, _libraries)
    for check in (*checks, _artifact, _destination) if publishes else checks:
        try:
            check(spec)
        except ExportFailure as failure:
            yield failure


def _source(spec: ModelExportSpec) -> None:
    if spec.source.is_batch or not spec.source.one.startswith(_LOCAL):
        return
    location = Stores(spec).source(spec.source.one)
    for file in identify(location, spec.source).files:
        _require_readable(Path(file.key))
    path = Path(location.key)
    found = detect(path, spec.source.format)
    if found.format in NEEDS_FACTORY and (spec.model is None or spec.model.factory is None):
        failure = no_factory(path.name, str(found))
        failure.stage = Stage.LOAD
        raise failure


def _require_readable(path: Path) -> None:
    try:
        with path.open("rb"):
            pass
    except OSError as error:
        raise from_os_error(error, Role.SOURCE, str(path)) from None


def _local_code(spec: ModelExportSpec) -> str | None:
    code = spec.model.code if spec.model is not None else None
    return code.uri if code is not None and code.uri.startswith(_LOCAL) else None


def _code(spec: ModelExportSpec) -> None:
    uri = _local_code(spec)
    if uri is not None:
        check_code(Stores(spec).code(uri))


def _callables(spec: ModelExportSpec) -> None:
    """Raise ExportFailure if a callable cannot be found; code in a store may define anything."""
    uri, code = _local_code(spec), None
    if uri is None and spec.model is not None and spec.model.code is not None:
        return
    if uri is not None:
        try:
            code = code_at(Path(Stores(spec).code(uri).key))
        except (OSError, zipfile.BadZipFile):  # reported by the check of the code
            return
    for named in callables_of(spec):
        require_callable(named, code)


def _inputs(spec: ModelExportSpec) -> None:
    for field, uri in recorded_inputs(spec).values():
        if uri.startswith(_LOCAL):
            _require_readable(Path(find_inputs(field, Stores(spec).source(uri)).key))


def _libraries(spec: ModelExportSpec) -> None:
    for uri in spec.export.runtime_libraries:
        if uri.startswith(_LOCAL):
            find_library(Stores(spec).code(uri))


def _artifact(spec: ModelExportSpec) -> None:
    uri = spec.artifact.uri if spec.artifact is not None else spec.destination.uri
    if spec.mode is not Mode.VERIFY or not uri.startswith(_LOCAL) or _PLACEHOLDER in uri:
        return
    artifact = find_artifact(spec)
    where = artifact.directory.child(artifact.name)
    if where.store.stat(where.key) is None:
        raise ExportFailure(
            Reason.ARTIFACT_INVALID, f"{where.uri} not found", "Correct spec.artifact.uri."
        )


def _destination(spec: ModelExportSpec) -> None:
    """Raise ExportFailure if nothing can be written to the destination, or created there."""
    if not spec.destination.uri.startswith(_LOCAL):
        return
    uri = spec.destination.uri.partition(_PLACEHOLDER)[0]
    path = Path(Stores(spec).destination(uri).key)
    # Path.exists() raises where a parent may not be searched.
    while not os.path.exists(path) and path != path.parent:  # noqa: PTH110
        path = path.parent
    if not path.is_dir():
        raise _not_writable(errno.ENOTDIR, f"{path} is a file, not a directory", path)
    if not os.access(path, os.W_OK | os.X_OK):
        raise _not_writable(errno.EACCES, "Permission denied", path)


def _not_writable(number: int, text: str, path: Path) -> ExportFailure:
    failure = from_os_error(OSError(number, text), Role.DESTINATION, str(path))
    failure.stage = Stage.PUBLISH
    return failure
