"""Valid triggers, and triggers that violate one rule each: for Python and for the API server."""

from __future__ import annotations

import copy
from typing import Any

TRIGGER: dict[str, Any] = {
    "apiVersion": "modelexport.dev/v1alpha1",
    "kind": "ModelExportTrigger",
    "metadata": {"name": "digits"},
    "spec": {
        "source": {"kind": "Job", "selector": {"matchLabels": {"app": "training"}}},
        "template": {
            "metadata": {"labels": {"kueue.x-k8s.io/queue-name": "$(metadata.labels['queue'])"}},
            "spec": {
                "source": {"uri": "s3://models/$(metadata.name)/model.pt"},
                "model": {"factory": "model:build", "kwargs": {"width": 64}},
                "inputs": [{"name": "image", "shape": ["batch", 1, 8, 8]}],
                "dims": {"batch": {"max": 64}},
                "destination": {"uri": "s3://models/$(metadata.name)/onnx/"},
            },
        },
    },
}


def changed(path: str, value: object) -> dict[str, Any]:
    """Return TRIGGER with the field at a dotted path of its spec replaced; None removes it."""
    manifest = copy.deepcopy(TRIGGER)
    *parents, last = path.split(".")
    target = manifest["spec"]
    for name in parents:
        target = target.setdefault(name, {})
    if value is None:
        del target[last]
    else:
        target[last] = value
    return manifest


COMPLETED = {"condition": {"type": "Done"}}
OWN = {"kind": "Training", "apiVersion": "example.com/v1", "success": COMPLETED}
EXPRESSION = "$(metadata.annotations['x'])"
VALID: list[tuple[str, dict[str, Any]]] = [
    ("a Job", TRIGGER),
    *((kind, changed("source", {"kind": kind})) for kind in ("TrainJob", "PyTorchJob", "JobSet")),
    ("a version", changed("source", {"kind": "RayJob", "apiVersion": "ray.io/v1"})),
    ("another kind by a condition", changed("source", OWN)),
    (
        "another kind by a field",
        changed("source", {**OWN, "success": {"field": {"path": ".status.phase", "value": "Ok"}}}),
    ),
    (
        "expressions on labels",
        changed(
            "source.selector.matchExpressions",
            [
                {"key": "team", "operator": "In", "values": ["a", "b"]},
                {"key": "debug", "operator": "DoesNotExist"},
            ],
        ),
    ),
    ("a number by expression", changed("template.spec.parallelism", EXPRESSION)),
    ("a size by expression", changed("template.spec.dims", {"batch": {"max": EXPRESSION}})),
    ("a boolean by expression", changed("template.spec.source.allowPickle", EXPRESSION)),
    ("a choice by expression", changed("template.spec.export", {"precision": EXPRESSION})),
    ("a uri by expression", changed("template.spec.source", {"uri": EXPRESSION})),
    ("history limits", changed("historyLimits", {"successful": 3, "failed": 0})),
]
# (test id, manifest, expected field, expected part of the message)
INVALID: list[tuple[str, dict[str, Any], str, str]] = [
    (
        "an unknown kind without its version",
        changed("source", {"kind": "Training", "success": COMPLETED}),
        "spec.source",
        "apiVersion is required for kinds other than Job",
    ),
    (
        "an unknown kind without success",
        changed("source", {"kind": "Training", "apiVersion": "example.com/v1"}),
        "spec.source",
        "success is required",
    ),
    (
        "a known kind of an unknown version",
        changed("source", {"kind": "RayJob", "apiVersion": "ray.io/v1alpha1"}),
        "spec.source",
        "success is required",
    ),
    (
        "condition and field for success",
        changed(
            "source",
            {**OWN, "success": {**COMPLETED, "field": {"path": ".status.phase", "value": "Ok"}}},
        ),
        "spec.source.success",
        "set exactly one of condition and field",
    ),
    (
        "neither condition nor field",
        changed("source", {**OWN, "success": {}}),
        "success",
        "set exactly one",
    ),
    (
        "In without values",
        changed("source.selector.matchExpressions", [{"key": "team", "operator": "In"}]),
        "spec.source.selector.matchExpressions",
        "values are required for operators In and NotIn",
    ),
    (
        "Exists with values",
        changed(
            "source.selector.matchExpressions",
            [{"key": "team", "operator": "Exists", "values": ["a"]}],
        ),
        "spec.source.selector.matchExpressions",
        "not allowed for Exists and DoesNotExist",
    ),
    (
        "an invalid label value",
        changed("source.selector.matchLabels", {"app": "a b"}),
        "spec.source.selector.matchLabels.app",
        "a b",
    ),
    (
        "a label of the operator",
        changed("template.metadata.labels", {"modelexport.dev/uid": "x"}),
        "spec.template.metadata",
        "reserved for the operator",
    ),
    (
        "an annotation of the operator",
        changed("template.metadata.annotations", {"modelexport.dev/run": "x"}),
        "spec.template.metadata",
        "reserved for the operator",
    ),
]
# Rejected by the API server's schema at admission; elsewhere by the check of the template.
INVALID_TEMPLATES: list[tuple[str, dict[str, Any], str]] = [
    ("an unknown field", changed("template.spec.sorce", {}), "sorce"),
    ("a missing field", changed("template.spec.destination", None), "destination"),
    ("a wrong choice", changed("template.spec.export", {"precision": "float8"}), "precision"),
    ("a wrong type", changed("template.spec.inputs", "x"), "inputs"),
    ("a number too large", changed("template.spec.parallelism", 1000), "parallelism"),
    ("a word instead of a number", changed("template.spec.parallelism", "many"), "parallelism"),
    ("an unsupported uri scheme", changed("template.spec.source", {"uri": "ftp://x/y"}), "uri"),
]
