from __future__ import annotations

from typing import Any

import pytest
import yaml

from modelexport_api.resource import ManifestError, parse, parse_yaml
from unit.api.manifests import INVALID, VALID


def test_valid_manifest_is_parsed_with_defaults() -> None:
    resource = parse(VALID)
    assert resource.metadata.name == "digits"
    assert resource.spec.dims["batch"].max == 64
    assert resource.spec.export.opset == 20
    assert resource.spec.inputs[0].shape == ["batch", 1, 8, 8]


@pytest.mark.parametrize(
    ("manifest", "field", "words"),
    [row[1:] for row in INVALID],
    ids=[row[0] for row in INVALID],
)
def test_invalid_manifest_names_field_and_rule(
    manifest: dict[str, Any], field: str, words: str
) -> None:
    with pytest.raises(ManifestError) as caught:
        parse(manifest)
    line = str(caught.value).splitlines()[0]
    assert line.startswith(field)
    assert words in line


def test_what_the_api_server_adds_is_no_error() -> None:
    server_side = {
        **VALID,
        "metadata": {"name": "digits", "uid": "u", "generation": 1, "managedFields": []},
        "status": {"phase": "Running"},
    }
    assert parse(server_side).metadata.uid == "u"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("spec: [unclosed", "not YAML"),
        ("- a list", "not a YAML mapping"),
        ("", "found 0"),
        (yaml.safe_dump_all([VALID, VALID]), "found 2"),
    ],
)
def test_what_is_no_manifest_says_so(text: str, words: str) -> None:
    with pytest.raises(ManifestError, match=words):
        parse_yaml(text)
