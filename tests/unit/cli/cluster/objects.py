"""ModelExports as the API server returns them."""

from __future__ import annotations

from typing import Any

from modelexport_cli.cluster.export import Export, observe

SPEC: dict[str, Any] = {
    "source": {"uri": "s3://models/digits/model.pt"},
    "model": {"factory": "digits:build"},
    "inputs": [{"name": "image", "shape": ["batch", 1, 8, 8]}],
    "dims": {"batch": {"min": 1, "max": 64}},
    "destination": {"uri": "s3://models/digits/onnx/"},
}
MANIFEST: dict[str, Any] = {
    "apiVersion": "modelexport.dev/v1alpha1",
    "kind": "ModelExport",
    "metadata": {"name": "digits"},
    "spec": SPEC,
}
FAILURE = {"reason": "VerificationFailed", "message": "it differs", "hint": "do so"}
BATCH = {"uri": "s3://models/*.pt"}


def condition(kind: str, status: str = "True", reason: str = "", message: str = "") -> Any:  # noqa: ANN401
    return {
        "type": kind,
        "status": status,
        "reason": reason or kind,
        "message": message,
        "lastTransitionTime": "2026-01-02T03:04:05Z",
    }


def progress(stage: str, percent: int, message: str = "") -> Any:  # noqa: ANN401
    return {"stage": stage, "percent": percent, "message": message}


def export(status: dict[str, Any] | None = None, *, deleting: bool = False, **spec: Any) -> Export:  # noqa: ANN401
    metadata = {"name": "digits", "namespace": "team", "uid": "u1", "resourceVersion": "7"}
    if deleting:
        metadata["deletionTimestamp"] = "2026-01-02T03:04:05Z"
    return observe(
        {**MANIFEST, "metadata": metadata, "spec": {**SPEC, **spec}, "status": status or {}}
    )


def failed(**failure: Any) -> Export:  # noqa: ANN401
    found = {**FAILURE, **failure}
    ended = condition("Failed", reason=found["reason"], message=found["message"])
    return export({"phase": "Failed", "conditions": [ended], "failure": found})


def complete(status: dict[str, Any] | None = None, **spec: Any) -> Export:  # noqa: ANN401
    ended = {"phase": "Succeeded", "conditions": [condition("Complete")], **(status or {})}
    return export(ended, **spec)
