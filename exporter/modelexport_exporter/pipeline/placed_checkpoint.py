"""The checkpoint next to a model that points into it, as both are published.

Guarantees that it is the checkpoint that was fetched: a worker names the file, by its digest, and
this process's own digests decide. It is copied: workers of the model's code may write in the
directory of the model, and not the checkpoint.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from modelexport_api.status import Stage
from modelexport_exporter.core.types import ConvertedModel, SourceFile, WrittenFile
from modelexport_exporter.isolation.death import invalid_answer
from modelexport_exporter.pipeline.fetched import FetchedCheckpoint
from modelexport_exporter.storage.errors import from_os_error, replaced
from modelexport_exporter.storage.regular_files import place
from modelexport_exporter.storage.store import Origin, Role


def place_checkpoint(
    converted: ConvertedModel, directory: Path, fetched: FetchedCheckpoint
) -> dict[str, Origin]:
    """Put the files that a model points into next to it; return where they are from, by name.

    Waits for the checkpoint's digests. Raises ExportFailure.
    """
    if converted.pointed is None:
        return {}
    stage, checkpoint = fetched.fetch_stage, fetched.checkpoint
    identity, store = stage.record.identity, stage.source.store
    assert identity is not None
    origins = {}
    for file, number in pointed_sources(converted, checkpoint.digests()).items():
        found, source = identity.files[number], checkpoint.paths[number]
        try:
            digest = place(source, directory / file.name)
        except OSError as error:
            raise from_os_error(error, Role.DESTINATION, str(directory)) from error
        if digest != file.sha256:
            raise replaced(store.uri(found.key))
        origins[file.name] = Origin(store, found)
    return origins


def pointed_sources(
    converted: ConvertedModel, sources: Sequence[SourceFile]
) -> Mapping[WrittenFile, int]:
    """Return the number of the checkpoint's file for each file that a model points into. Pure.

    Raises ExportFailure if the worker names a file that the checkpoint does not have.
    """
    assert converted.pointed is not None
    written = {file.name: file for file in converted.files}
    numbers = {(source.sha256, source.size_bytes): at for at, source in enumerate(sources)}
    found = {}
    for pointed in converted.pointed.files:
        file = written.get(pointed.name)
        number = numbers.get((file.sha256, file.size_bytes)) if file is not None else None
        if file is None or number is None:
            raise invalid_answer("a file that is not one of the checkpoint's", Stage.CONVERT)
        found[file] = number
    return found
