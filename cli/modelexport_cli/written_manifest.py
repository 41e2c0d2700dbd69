"""The manifest that `modelexport init` writes, for an export or for a trigger: pure."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from typing import Any

from modelexport_cli.manifest_text import manifest_text
from modelexport_exporter.core.inferred import Inferred

_LOCAL = "file://"
_IN_CLUSTER = {
    "source.uri": "s3://BUCKET/KEY",
    "destination.uri": "s3://BUCKET/DIRECTORY/",
    "model.code.uri": "s3://BUCKET/code.zip",
}
_OUTPUT = '$(spec.template.spec.containers[0].env[?(@.name=="OUTPUT")].value)'
"""Where a training Job says in its own manifest where its checkpoint is."""


def written_manifest(
    document: Mapping[str, Any], inferred: Iterable[Inferred], checkpoint: str, *, trigger: bool
) -> str:
    """Return YAML in which each value that nobody stated is marked."""
    comments = _comments(inferred)
    for field, uri in _IN_CLUSTER.items():
        if _at(document["spec"], field).startswith(_LOCAL):
            comments[field] = f"in a cluster: {uri}"
    head = (
        f"Written by `modelexport init` for {checkpoint}. Check what is marked as inferred, then:\n"
        "  modelexport run FILE      on this machine\n  kubectl apply -f FILE     in a cluster"
    )
    if not trigger:
        return manifest_text(document, comments, head)
    made = _as_trigger(document)
    nested = {f"template.spec.{field}": text for field, text in comments.items()}
    nested["template.spec.source.uri"] = "what each training job wrote"
    nested["source.selector.matchLabels"] = "the label of the training jobs"
    head = (
        f"Written by `modelexport init --trigger` for {checkpoint}. It creates a ModelExport for "
        "each training Job\nthat completes: kubectl apply -f FILE"
    )
    return manifest_text(made, nested, head)


def _comments(inferred: Iterable[Inferred]) -> dict[str, str]:
    """Return a comment by field; name and dtype of an input have that of its shape."""
    sources = {one.field: one.source for one in inferred}

    def is_repeated(field: str) -> bool:
        owner, _, part = field.rpartition(".")
        return part in {"name", "dtype"} and sources.get(f"{owner}.shape") == sources[field]

    return {
        field: f"inferred: {source}" for field, source in sources.items() if not is_repeated(field)
    }


def _at(spec: Mapping[str, Any], path: str) -> str:
    value: Any = spec
    for part in path.split("."):
        value = value.get(part, {}) if isinstance(value, Mapping) else {}
    return value if isinstance(value, str) else ""


def _as_trigger(document: Mapping[str, Any]) -> dict[str, Any]:
    name = document["metadata"]["name"]
    spec = copy.deepcopy(dict(document["spec"]))
    spec["source"] = {
        **spec["source"],
        "uri": f"{_OUTPUT}{spec['source']['uri'].rsplit('/', 1)[-1]}",
    }
    spec["destination"] = {**spec["destination"], "uri": f"s3://BUCKET/{name}/$(metadata.name)/"}
    return {
        "apiVersion": document["apiVersion"],
        "kind": "ModelExportTrigger",
        "metadata": {"name": name},
        "spec": {
            "source": {"kind": "Job", "selector": {"matchLabels": {"app": f"{name}-training"}}},
            "template": {"spec": spec},
        },
    }
