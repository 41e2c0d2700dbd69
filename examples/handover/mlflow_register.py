"""Register a verified export as a version of a model in MLflow's registry.

    kubectl get modelexport digits -o json | python mlflow_register.py digits

MLFLOW_TRACKING_URI names the server. The version's source is the export's destination: nothing is
copied. The alias `verified` is set to it. The same artifact is registered once, however often this
runs. An export that is not verified is refused with exit code 1.

Needs: pip install mlflow-skinny
"""

from __future__ import annotations

import json
import sys
from typing import Any

from mlflow import MlflowClient
from mlflow.entities.model_registry import ModelVersion
from mlflow.exceptions import MlflowException

ALIAS = "verified"


def main() -> int:
    """Register the export on standard input; print the version."""
    model = sys.argv[1]
    export = json.load(sys.stdin)
    problem = why_not(export)
    if problem:
        print(f"{export['metadata']['name']} is not registered: {problem}", file=sys.stderr)
        return 1
    version = register(MlflowClient(), model, export)
    print(f"models:/{model}/{version.version}")
    return 0


def why_not(export: dict[str, Any]) -> str:
    """Return why an export is not registered; empty if it was verified and published."""
    status = export.get("status") or {}
    if status.get("observedGeneration") != export["metadata"]["generation"]:
        return "its status is that of an earlier spec"
    if "items" in status:
        return "a batch has an artifact of each checkpoint (status.items); this registers one"
    verdict = (status.get("verification") or {}).get("verdict")
    if status.get("phase") != "Succeeded" or verdict != "Verified":
        return f"phase {status.get('phase')}, verdict {verdict}: {status.get('message', '')}"
    return ""


def tags_of(export: dict[str, Any]) -> dict[str, str]:
    """Return what the version says of its origin."""
    metadata, status = export["metadata"], export["status"]
    verification = status["verification"]
    found = {
        "export": f"{metadata['namespace']}/{metadata['name']}",
        "checkpoint": export["spec"]["source"].get("uri"),
        "sha256": status["artifact"]["sha256"],
        "report": status.get("reportUri"),
        "verdict": verification["verdict"],
        "samples": verification["samples"],
        "maxRelError": verification["maxRelError"],
        "provider": verification["provider"],
    }
    return {f"modelexport.{key}": str(value) for key, value in found.items() if value is not None}


def register(client: MlflowClient, model: str, export: dict[str, Any]) -> ModelVersion:
    """Return the version of this artifact, which is created unless there is one."""
    try:
        client.create_registered_model(model)
    except MlflowException as error:
        if error.error_code != "RESOURCE_ALREADY_EXISTS":
            raise
    tags = tags_of(export)
    directory = export["status"]["artifact"]["uri"].rpartition("/")[0]
    for version in client.search_model_versions(f"name='{model}'"):
        if version.source == directory and version.tags.items() >= tags.items():
            break
    else:
        version = client.create_model_version(model, directory, tags=tags)
    client.set_registered_model_alias(model, ALIAS, version.version)
    return version


if __name__ == "__main__":
    sys.exit(main())
