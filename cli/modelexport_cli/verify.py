"""`modelexport verify`: runs a manifest of any mode in mode Verify."""

from __future__ import annotations

from pathlib import Path

from modelexport_api.resource import ManifestError, ModelExport, parse
from modelexport_cli.export_options import uri_of
from modelexport_cli.run import run_manifest


def verify_manifest(
    manifest: Path,
    artifact: str | None,
    output: str,
    work_dir: Path | None,
    *,
    verbose: bool = False,
) -> int:
    """Verify an existing artifact; return the exit code."""
    return run_manifest(
        manifest,
        output,
        work_dir,
        lambda resource: as_verification(resource, artifact),
        verbose=verbose,
    )


def as_verification(resource: ModelExport, artifact: str | None) -> ModelExport:
    """Return the resource with mode Verify. Raises ManifestError."""
    document = resource.to_wire()
    document["spec"]["mode"] = "Verify"
    if artifact is not None:
        document["spec"]["artifact"] = {"uri": uri_of(artifact)}
    try:
        return parse(document)
    except ManifestError as error:
        raise ManifestError(f"--artifact {artifact}: {error}" if artifact else str(error)) from None
