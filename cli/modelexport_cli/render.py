"""`modelexport render`: what the operator would create, as YAML on stdout."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from modelexport_api.reasons import ExitCode
from modelexport_api.resource import ManifestError, one_document
from modelexport_api.trigger import TRIGGER_KIND
from modelexport_api.yaml_text import dump
from modelexport_cli.manifest_file import export_in, read_text


def render_manifest(manifest: Path, image: str, finished: Path | None = None) -> int:
    """Print the Job or ModelExport for a manifest; return the exit code."""
    try:
        document = one_document(read_text(manifest), str(manifest))
        if isinstance(document, dict) and document.get("kind") == TRIGGER_KIND:
            from modelexport_cli.render_trigger import export_of

            rendered = export_of(document, finished)
        else:
            rendered = _job_of(document, manifest, image, finished)
    except ManifestError as error:
        print(f"{manifest}: {error}", file=sys.stderr)
        return int(ExitCode.MANIFEST)
    sys.stdout.write(dump(rendered))
    return int(ExitCode.DONE)


def _job_of(document: object, manifest: Path, image: str, finished: Path | None) -> dict[str, Any]:
    from modelexport_operator import job
    from modelexport_operator.settings import Settings

    export = export_in(document, manifest)
    if finished is not None:
        raise ManifestError(f"--for is valid only for a {TRIGGER_KIND}, and this is a ModelExport")
    try:
        return job.build(export, Settings(exporter_image=image))
    except job.JobError as error:
        raise ManifestError(str(error)) from None
