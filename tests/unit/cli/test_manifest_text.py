"""A manifest as text: it parses to what was written, whatever the values are."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from modelexport_cli.manifest_text import manifest_text
from modelexport_cli.written_manifest import written_manifest
from modelexport_exporter.core.inferred import Inferred

DOCUMENT = {
    "apiVersion": "modelexport.dev/v1alpha1",
    "kind": "ModelExport",
    "metadata": {"name": "net"},
    "spec": {
        "source": {"uri": "file:///models/net.pt"},
        "model": {
            "factory": "net:build",
            "kwargs": {"on": "yes", "rate": 1e-05, "k": [1, {"a": 2}]},
        },
        "inputs": [
            {"name": "ids", "dtype": "int64", "shape": ["batch", "2 * n"], "range": [0, 999]},
            {"name": "y", "kind": "Constant", "value": "#1: {x}"},
        ],
        "dims": {"batch": {"min": 1, "max": 32}, "n": {"min": 1, "max": 8}},
        "destination": {"uri": "file:///out/"},
    },
}
_KEYS = st.sampled_from(["a", "b", "range", "shape", "kwargs", "y", "no", "0"])
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(_KEYS, inner),
)


def test_it_parses_to_the_document() -> None:
    text = manifest_text(DOCUMENT, {"inputs[0].shape": "inferred: x"}, "one\ntwo")
    assert yaml.safe_load(text) == DOCUMENT
    assert text.startswith("# one\n# two\napiVersion")
    assert "shape: [batch, 2 * n]" in text
    (line,) = [line for line in text.splitlines() if "inferred" in line]
    assert line.endswith("# inferred: x")


@given(st.dictionaries(_KEYS, _VALUES))
def test_any_document_survives(document: dict[str, object]) -> None:
    assert yaml.safe_load(manifest_text(document, {}, "")) == (document or None)


def test_what_was_inferred_is_marked_once() -> None:
    inferred = [
        Inferred(field=f"inputs[0].{part}", value="", source="2 trial runs")
        for part in ("name", "dtype", "shape")
    ]
    text = written_manifest(DOCUMENT, inferred, "net.pt", trigger=False)
    assert text.count("inferred: 2 trial runs") == 1
    assert "uri: file:///models/net.pt" in text
    assert text.count("in a cluster: s3://") == 2


def test_a_trigger_has_the_spec_as_its_template() -> None:
    text = written_manifest(DOCUMENT, [], "net.pt", trigger=True)
    document = yaml.safe_load(text)
    assert document["kind"] == "ModelExportTrigger"
    template = document["spec"]["template"]["spec"]
    assert template["inputs"] == DOCUMENT["spec"]["inputs"]  # type: ignore[index]
    assert template["source"]["uri"].endswith("net.pt")
    assert "$(metadata.name)" in template["destination"]["uri"]


@pytest.mark.parametrize("trigger", [False, True])
def test_what_is_written_is_valid(trigger: bool) -> None:
    from modelexport_api.resource import parse
    from modelexport_api.trigger_resource import parse_trigger

    document = yaml.safe_load(written_manifest(DOCUMENT, [], "net.pt", trigger=trigger))
    (parse_trigger if trigger else parse)(document)
