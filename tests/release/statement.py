"""Provenance of a release: an in-toto statement with a SLSA predicate, without a signature.

It names the commit and the digests of what decides the result, so that a second person can build
the release and compare. It proves nothing about who built: sign SHA256SUMS for that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

NAME = "provenance.intoto.json"
BUILD_TYPE = "https://modelexport.dev/release/v1"
BASE = "base image"
BUILDER = "https://modelexport.dev/release/make"


def document(
    subjects: Mapping[str, str],
    *,
    commit: str,
    parts: Sequence[str],
    inputs: Mapping[str, str],
    versions: Mapping[str, str],
    base: str | None = None,
) -> dict[str, Any]:
    """The statement that SUBJECTS (sha256 by name) were built of COMMIT and INPUTS (likewise).

    BASE is the digest of the image that images were built on.
    """
    materials = [{"name": name, "digest": {"sha256": inputs[name]}} for name in sorted(inputs)]
    if base:
        materials.append({"name": BASE, "digest": {"sha256": base.removeprefix("sha256:")}})
    return {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": n, "digest": {"sha256": subjects[n]}} for n in sorted(subjects)],
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {
                "buildType": BUILD_TYPE,
                "externalParameters": {"parts": list(parts)},
                "resolvedDependencies": [
                    {"name": "source", "digest": {"gitCommit": commit}},
                    *materials,
                ],
            },
            "runDetails": {"builder": {"id": BUILDER, "version": dict(versions)}},
        },
    }


def subjects(statement: Mapping[str, Any]) -> dict[str, str]:
    """The sha256 of each subject by its name."""
    return {entry["name"]: entry["digest"]["sha256"] for entry in statement["subject"]}


def materials(statement: Mapping[str, Any]) -> dict[str, str]:
    """The sha256 of each input in the commit by its name."""
    entries = statement["predicate"]["buildDefinition"]["resolvedDependencies"]
    files = [e for e in entries if "sha256" in e["digest"] and e["name"] != BASE]
    return {e["name"]: e["digest"]["sha256"] for e in files}


def commit(statement: Mapping[str, Any]) -> str:
    entries = statement["predicate"]["buildDefinition"]["resolvedDependencies"]
    return str(next(e["digest"]["gitCommit"] for e in entries if "gitCommit" in e["digest"]))
