"""The documents that are published with a verified artifact, each made from those before it.

    config.pbtxt (layout Triton) -> report.html, report.json -> provenance.json
        -> its envelope, if signed

The provenance names every file before it by digest; the manifest, which is written last of all,
names the provenance.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from modelexport_api.spec import Layout
from modelexport_exporter.core.blame import REPRO_NAME
from modelexport_exporter.core.types import WrittenFile
from modelexport_exporter.publish.layout import (
    CONFIG_NAME,
    ENVELOPE_NAME,
    PAGE_NAME,
    PROVENANCE_NAME,
    REPORT_NAME,
)
from modelexport_exporter.report.provenance import statement
from modelexport_exporter.report.record import Record, as_artifact_file
from modelexport_exporter.report.render import render
from modelexport_exporter.report.report import Report
from modelexport_exporter.report.signing import Signer
from modelexport_exporter.report.triton_config import config_of
from modelexport_exporter.storage.store import Location


def documents(record: Record, destination: Location, signer: Signer | None) -> dict[str, bytes]:
    """Return the documents by name."""
    assert record.converted is not None
    assert record.outcome is not None
    report = record.report(destination)
    made: dict[str, bytes] = {}
    if record.layout is Layout.TRITON:
        made[CONFIG_NAME] = config_of(record.resource.spec, record.converted, record.outcome)
    made |= both_reports(report)
    subjects = [*record.model_files(), *map(as_artifact_file, describe_files(made))]
    made[PROVENANCE_NAME] = statement(report, subjects, record.dependencies)
    if signer is not None:
        made[ENVELOPE_NAME] = signer.envelope(made[PROVENANCE_NAME])
    return made


def both_reports(report: Report) -> dict[str, bytes]:
    """Return report.html and report.json. The page comes first: with the JSON, both exist."""
    return {PAGE_NAME: render(report), REPORT_NAME: report.encode()}


def failed_documents(record: Record) -> dict[str, bytes]:
    """Return the files that a failure's report refers to: the repro of the node to blame."""
    files = record.blame.repro if record.blame else ()
    return {f"{REPRO_NAME}/{file.name}": file.content for file in files}


def describe_files(made: dict[str, bytes]) -> Iterator[WrittenFile]:
    """Yield name, size and digest of each document, for the manifest."""
    for name, content in made.items():
        yield WrittenFile(name, len(content), hashlib.sha256(content).hexdigest())
