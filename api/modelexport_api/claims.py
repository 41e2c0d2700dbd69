"""pvc:// URIs: files in the volume of a PersistentVolumeClaim of the export's namespace. Pure.

`pvc://claim/path`: the path is relative to the root of the volume and is plain text, as a key of S3
is; nothing in it is decoded. The operator mounts the claim at `mount_path`, the exporter opens what
is below it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from modelexport_api.spec import ModelExportSpec
from modelexport_api.types import CLAIM_PATTERN

SCHEME = "pvc://"
CLAIMS_DIR = "/volumes"
"""Directory of the mounted claims in the pod, each under its name."""
CLAIMS_DIR_ENV = "MODELEXPORT_CLAIMS_DIR"
"""Environment variable with another directory of claims, for use outside a cluster."""
_FORM = re.compile(rf"{CLAIM_PATTERN}\Z")


def is_claim(uri: str) -> bool:
    """Return whether a URI names a file in a claim."""
    return uri.startswith(SCHEME)


def split(uri: str) -> tuple[str, str]:
    """Return the claim and the path below its root. Raises ValueError for another form."""
    if _FORM.match(uri) is None:
        msg = f"{uri} is not pvc://claim/path"
        raise ValueError(msg)
    claim, _, path = uri.removeprefix(SCHEME).partition("/")
    return claim, path


def mount_path(claim: str) -> str:
    """Return where a claim is mounted in the pod."""
    return f"{CLAIMS_DIR}/{claim}"


def mounted_at(claim: str, environment: Mapping[str, str]) -> str:
    """Return the directory of a claim's files in this process."""
    return f"{environment.get(CLAIMS_DIR_ENV, CLAIMS_DIR)}/{claim}"


def claims_of(spec: ModelExportSpec) -> dict[str, bool]:
    """Return the claims that a spec names, by name, and whether each is written to."""
    found = {split(uri)[0]: False for uri in _read(spec) if is_claim(uri)}
    if is_claim(spec.destination.uri):
        found[split(spec.destination.uri)[0]] = True
    return dict(sorted(found.items()))


def _read(spec: ModelExportSpec) -> Iterator[str]:
    yield from spec.source.uris or ()
    yield from spec.export.runtime_libraries
    code = spec.model.code if spec.model is not None else None
    optional = (
        spec.source.uri,
        code.uri if code is not None else None,
        spec.artifact.uri if spec.artifact is not None else None,
        spec.verification.golden_inputs,
        spec.export.calibration_inputs,
    )
    yield from (uri for uri in optional if uri is not None)
