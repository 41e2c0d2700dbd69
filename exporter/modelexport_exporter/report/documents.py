"""The documents that are published beside a verified artifact, each made of those before it.

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
from modelexport_exporter.report.record import Record, listed
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
    subjects = [*record.model_files(), *map(listed, written(made))]
    made[PROVENANCE_NAME] = statement(report, subjects, record.dependencies)
    if signer is not None:
        made[ENVELOPE_NAME] = signer.envelope(made[PROVENANCE_NAME])
    return made


def both_reports(report: Report) -> dict[str, bytes]:
    """Return a report for people and for machines; whoever sees the latter finds the former."""
    return {PAGE_NAME: render(report), REPORT_NAME: report.encode()}


def failed_documents(record: Record) -> dict[str, bytes]:
    """Return what belongs to the report of a failure: the repro of the node to blame."""
    files = record.blame.repro if record.blame else ()
    return {f"{REPRO_NAME}/{file.name}": file.content for file in files}


def written(made: dict[str, bytes]) -> Iterator[WrittenFile]:
    """Yield what a manifest says of each document."""
    for name, content in made.items():
        yield WrittenFile(name, len(content), hashlib.sha256(content).hexdigest())
