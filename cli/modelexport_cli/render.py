"""`modelexport render`: the Job that the operator would create, as YAML on stdout."""

from __future__ import annotations

import sys
from pathlib import Path

import yaml

from modelexport_api.reasons import ExitCode
from modelexport_api.resource import ManifestError
from modelexport_cli.manifest_file import read_manifest


def render_manifest(manifest: Path, image: str) -> int:
    """Print the Job of a manifest; return the exit code."""
    from modelexport_operator import job
    from modelexport_operator.settings import Settings

    try:
        rendered = job.build(read_manifest(manifest), Settings(exporter_image=image))
    except (ManifestError, job.JobError) as error:
        print(f"{manifest}: {error}", file=sys.stderr)
        return int(ExitCode.MANIFEST)
    yaml.safe_dump(rendered, sys.stdout, sort_keys=False, allow_unicode=True)
    return int(ExitCode.DONE)
