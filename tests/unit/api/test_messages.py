"""A sentence for each error: every pattern and every type of the schemas has its words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from modelexport_api.messages import SENTENCES
from modelexport_api.resource import ManifestError, ModelExport, parse, schema_of
from modelexport_api.schema import Schema
from modelexport_api.schema_words import example, expectation
from modelexport_api.text_forms import FORMS
from modelexport_api.trigger_resource import ModelExportTrigger, parse_trigger
from modelexport_api.types import URI_PATTERN
from unit.api.manifests import VALID, X, changed
from unit.api.trigger_manifests import TRIGGER


def below(schema: Schema, name: str = "") -> Iterator[tuple[str, Schema]]:
    yield name, schema
    for key, child in schema.get("properties", {}).items():
        yield from below(child, key)
    for inner in ("items", "additionalProperties"):
        if isinstance(schema.get(inner), dict):
            yield from below(schema[inner], name)


FIELDS = [
    entry for kind in (ModelExport, ModelExportTrigger) for entry in below(schema_of(kind), "root")
]


def test_every_pattern_has_words() -> None:
    patterns = {schema["pattern"] for _, schema in FIELDS if "pattern" in schema}
    assert patterns - set(FORMS) == {URI_PATTERN}


@pytest.mark.parametrize("relative", [True, False])
def test_every_field_has_an_expectation_and_an_example(relative: bool) -> None:
    for name, schema in FIELDS:
        if schema.get("type") and "format" not in schema:
            assert "another value" not in expectation(schema, relative=relative), name
            assert example(schema, name, relative=relative) is not None, name


def first_line(manifest: dict[str, Any]) -> str:
    with pytest.raises(ManifestError) as caught:
        parse(manifest, relative_uris=True)
    return str(caught.value).splitlines()[0]


def test_a_misspelled_field_comes_first_and_is_not_also_missing() -> None:
    destination = {"destnation": {"uri": "s3://a/b/"}}
    with pytest.raises(ManifestError) as caught:
        parse(changed(destination=None, **destination))
    assert str(caught.value) == (
        "spec.destnation: unknown field `destnation`; did you mean `destination`?"
    )


@pytest.mark.parametrize(
    ("manifest", "line"),
    [
        (
            changed(opset=18),
            "spec.opset: unknown field `opset`; write it as spec.export.opset, where it belongs",
        ),
        (
            changed(labels={"a": "b"}),
            "spec.labels: unknown field `labels`; write it as metadata.labels, where it belongs",
        ),
        (
            changed(export={"opset": 99}),
            "spec.export.opset: found 99; expected a whole number from 7 to 25; write opset: 25",
        ),
        (
            changed(export={"exporter": "dynamo"}),
            'spec.export.exporter: found "dynamo"; expected one of Auto, Dynamo, TorchScript; '
            "write exporter: Dynamo",
        ),
        (
            changed(dims={"batch": {"max": 8}, "a b": {"max": 8}}),
            'spec.dims.a b: found the key "a b"; expected a name of letters, digits and _ that '
            "begins with a letter or _; write a_b",
        ),
        (
            changed(inputs=[{**X, "shape": ["n/2", 8]}]),
            'spec.inputs[0].shape[0]: found "n/2"; expected a number, a name from dims, or an '
            "expression such as n - 1, 2 * n + 1 or past + n; declare the smaller size as the dim, "
            "and write the larger one as 2 * n",
        ),
        (
            changed(dims={"batch": [1, 64]}),
            "spec.dims.batch: found [1, 64] (a list); expected a mapping with max; write batch: "
            "{min: 1, max: 64}",
        ),
        (
            changed(inputs=[{**X, "shape": "batch, 8"}]),
            'spec.inputs[0].shape: found "batch, 8" (text); expected a list of entries, at most '
            "16, each a number, a name from dims, or an expression such as n - 1, 2 * n + 1 or "
            "past + n; write shape: [batch, 8]",
        ),
        (
            changed(dims={"bach": {"max": 8}}),
            "spec.inputs[0].shape: dim `batch` of inputs[0].shape is not declared in spec.dims: "
            "did you mean `bach`? Otherwise add `dims: {batch: {min: 1, max: 512}}` (every name "
            "in inputs[].shape must be defined in dims, with its max (and min))",
        ),
        (
            changed(outputs=["y", "y"]),
            "spec.outputs[1]: `y` is already the name of outputs[0]: rename (the names of outputs "
            "must be unique)",
        ),
    ],
)
def test_a_sentence(manifest: dict[str, Any], line: str) -> None:
    assert first_line(manifest) == line


def test_a_plain_path_is_a_key_in_a_cluster_and_a_file_on_a_workstation() -> None:
    manifest = changed(source={"uri": "model.pt"})
    assert first_line(manifest).endswith("; write uri: file://./model.pt")
    with pytest.raises(ManifestError, match=r"write uri: s3://bucket/model\.pt") as caught:
        parse(manifest)
    assert "file://./" not in str(caught.value)


def test_triggers_have_the_same_sentences() -> None:
    with pytest.raises(ManifestError) as caught:
        parse_trigger({**TRIGGER, "spec": {**TRIGGER["spec"], "suspend": "yes"}})
    assert str(caught.value) == (
        'spec.suspend: found "yes" (text); expected true or false; write suspend: true'
    )


def test_an_unknown_type_of_error_has_pydantics_words() -> None:
    assert "url_parsing" not in SENTENCES
    assert "missing" in SENTENCES


def test_the_valid_manifest_has_no_problem() -> None:
    assert parse(VALID)
