"""provenance.json: which artifact was built from which inputs, and by which builder.

An in-toto statement with the SLSA provenance predicate, both version 1. Pure: the same content is
in the report; policy engines and `cosign` check this form.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from modelexport_api.status import ArtifactFile
from modelexport_exporter.core.dependency import Dependency
from modelexport_exporter.publish.layout import REPORT_NAME
from modelexport_exporter.report.report import Report

STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE = "https://slsa.dev/provenance/v1"
BUILD_TYPE = "https://modelexport.dev/export/v1"
BUILDER_ID = "https://modelexport.dev/exporter"


def statement(
    report: Report, published: Iterable[ArtifactFile], dependencies: Iterable[Dependency]
) -> bytes:
    """Return the statement about published files; the report is one of them."""
    files = {file.name: file for file in published}
    content = {
        "_type": STATEMENT_TYPE,
        "subject": [
            {"name": name, "digest": {"sha256": file.sha256}}
            for name, file in sorted(files.items())
        ],
        "predicateType": PREDICATE_TYPE,
        "predicate": {
            "buildDefinition": _build_definition(report, dependencies),
            "runDetails": _run_details(report, files[REPORT_NAME]),
        },
    }
    return json.dumps(content, indent=2, sort_keys=True).encode() + b"\n"


def _build_definition(report: Report, dependencies: Iterable[Dependency]) -> dict[str, Any]:
    return {
        "buildType": BUILD_TYPE,
        "externalParameters": {"spec": report.spec},
        "internalParameters": {
            "specSha256": report.spec_sha256,
            "exporter": report.artifact.exporter if report.artifact else None,
        },
        "resolvedDependencies": [
            *_checkpoint(report),
            *({"uri": entry.uri, "digest": dict(entry.digest)} for entry in dependencies),
        ],
    }


def _checkpoint(report: Report) -> list[dict[str, Any]]:
    """Return the checkpoint's files; the uri of a directory ends in a slash."""
    uri = report.source.uri
    return [
        {
            "uri": uri + file.name if uri.endswith("/") else uri,
            "name": file.name,
            "digest": {"sha256": file.sha256},
        }
        for file in report.source.files
    ]


def _run_details(report: Report, document: ArtifactFile) -> dict[str, Any]:
    metadata = {
        "startedOn": _instant(report.started.isoformat()),
        "finishedOn": _instant(report.finished.isoformat()),
    }
    if report.uid:
        metadata["invocationId"] = report.uid
    verification = report.verification
    verdict = verification.to_wire() if verification else {}
    versions = report.environment.versions | report.environment.gpu_libraries
    return {
        "builder": {"id": BUILDER_ID, "version": versions},
        "metadata": metadata,
        "byproducts": [
            {
                "name": document.name,
                "digest": {"sha256": document.sha256},
                "mediaType": "application/json",
                "annotations": {"verification": verdict},
            }
        ],
    }


def _instant(text: str) -> str:
    """Return a time as in-toto writes it: UTC with a Z."""
    return text.replace("+00:00", "Z")
