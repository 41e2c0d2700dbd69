"""Values of other types, null and metadata: the API server and `parse` accept the same."""

from __future__ import annotations

from typing import Any

from unit.api.manifests import VALID, X, changed


def dim(**sizes: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON value
    """Return a manifest with this dim."""
    return changed(dims={"batch": {"max": 64, **sizes}})


def shape(*sizes: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return a manifest with an input of this shape."""
    return changed(inputs=[{"name": "image", "shape": ["batch", *sizes]}])


def meta(**fields: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return a manifest with these fields of metadata."""
    return {**VALID, "metadata": {"name": "digits", **fields}}


def null(**fields: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return a manifest with fields of the spec that may be null."""
    return {**VALID, "spec": {**VALID["spec"], **fields}}


NUMBERS_FROM_0_TO_1 = {"tolerance": {"rtol": 1}}
ACCEPTED: list[tuple[str, dict[str, Any]]] = [
    ("64.0 for an integer", dim(max=64.0)),
    ("3.0 as a size", shape(3.0)),
    ("an integer for a number", changed(verification=NUMBERS_FROM_0_TO_1)),
    ("null where a default is", dim(min=None)),
    ("null for objects and lists", null(storage=None, outputs=None, verification=None)),
    ("null as a value of a map", changed(export={"customOpsets": {"a": None}})),
    ("null as a constant", changed(inputs=[X, {"name": "c", "kind": "Constant", "value": None}])),
    ("a label without value", meta(labels={"a": ""})),
    ("a label with a prefix", meta(labels={"example.com/a": "A_b.c-1"})),
    ("null labels", meta(labels=None)),
]
REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("text for an integer", dim(max="64"), "spec.dims.batch.max"),
    ("a boolean for an integer", dim(max=True), "spec.dims.batch.max"),
    ("a fraction for an integer", dim(max=64.5), "spec.dims.batch.max"),
    ("null for a required integer", dim(max=None), "spec.dims.batch.max"),
    ("text for a boolean", changed(suspend="true"), "spec.suspend"),
    ("a number for a boolean", changed(suspend=1), "spec.suspend"),
    ("a number for text", changed(source={"uri": "s3://a/b", "stateDictKey": 1}), "stateDictKey"),
    ("a boolean as a size", shape(True), "spec.inputs[0].shape[1]"),
    ("a fraction as a size", shape(1.5), "spec.inputs[0].shape[1]"),
    ("a negative size", shape(-1), "spec.inputs[0].shape[1]"),
    ("null in a list", changed(outputs=[None]), "spec.outputs[0]"),
    ("null for a required object", null(destination=None), "spec.destination"),
    ("a field in snake case", changed(max_failed=0), "spec.max_failed"),
    ("a field in capitals", changed(Suspend=True), "spec.Suspend"),
    ("an unknown field of the root", {**VALID, "sepc": {}}, "sepc"),
    ("an unknown field of metadata", meta(nam="x"), "metadata.nam"),
    ("a number for a label", meta(labels={"a": 1}), "metadata.labels"),
    ("a list of labels", meta(labels=["a"]), "metadata.labels"),
    ("a label value with a space", meta(labels={"a": "a b"}), "metadata.labels"),
    ("a long label value", meta(labels={"a": "a" * 64}), "metadata.labels"),
    ("a label key with a space", meta(labels={"a b": "a"}), "metadata.labels"),
    ("a label key with capitals before /", meta(labels={"A/b": "a"}), "metadata.labels"),
    ("a label key without a name", meta(labels={"c/": "a"}), "metadata.labels"),
    ("a number for an annotation", meta(annotations={"a": 1}), "metadata.annotations"),
    ("an annotation key with a space", meta(annotations={"a b": "c"}), "metadata.annotations"),
    ("a name with capitals", meta(name="My_Model"), "metadata.name"),
    ("a long name", meta(name="a" * 254), "metadata.name"),
    ("a number for a name", meta(name=1), "metadata.name"),
    ("a number for finalizers", meta(finalizers=5), "metadata.finalizers"),
    ("a finalizer with a space", meta(finalizers=["a b"]), "metadata.finalizers"),
    ("text for owners", meta(ownerReferences="x"), "metadata.ownerReferences"),
    ("a list for a generated name", meta(generateName=["a"]), "metadata.generateName"),
    ("text for a generation", meta(generation="x"), "metadata.generation"),
    ("text for managed fields", meta(managedFields="x"), "metadata.managedFields"),
    ("a date for a time", meta(creationTimestamp="2026-05-01"), "2026-05-01"),
    ("a number beyond int64", changed(activeDeadlineSeconds=10**20), "spec.activeDeadlineSeconds"),
    ("a line break in a uri", changed(source={"uri": "s3://a/b\nc"}), "spec.source.uri"),
]
WORDS_OF_THE_SERVER: list[tuple[str, dict[str, Any], str]] = [
    (
        "name",
        meta(name="My_Model"),
        'metadata.name: Invalid value: "My_Model": a lowercase RFC 1123 subdomain must consist of '
        "lower case alphanumeric characters, '-' or '.', and must start and end with an "
        "alphanumeric character (e.g. 'example.com', regex used for validation is "
        r"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    ),
    ("long name", meta(name="a" * 254), '": must be no more than 253 characters'),
    (
        "label",
        meta(labels={"a": "a b"}),
        'metadata.labels: Invalid value: "a b": a valid label must be an empty string or consist '
        "of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
        "character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
        "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
    ),
    ("long label", meta(labels={"a": "a" * 64}), '": must be no more than 63 bytes'),
    (
        "label key",
        meta(labels={"a b": "a"}),
        'metadata.labels: Invalid value: "a b": name part must consist of alphanumeric characters, '
        "'-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  "
        "or 'my.name',  or '123-abc', regex used for validation is "
        "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
    ),
    ("kind", {**VALID, "kind": "ModelExports"}, 'no matches for kind "ModelExports" in version'),
]
