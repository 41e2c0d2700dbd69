"""Types are as strict as the API server's; `tests/cluster` asks a real one about this table."""

from __future__ import annotations

from typing import Any

import pytest

from modelexport_api.resource import ManifestError, parse
from unit.api.manifests import VALID
from unit.api.strict_manifests import ACCEPTED, REFUSED, WORDS_OF_THE_SERVER, dim, meta


@pytest.mark.parametrize("manifest", [row[1] for row in ACCEPTED], ids=[row[0] for row in ACCEPTED])
def test_it_is_accepted(manifest: dict[str, Any]) -> None:
    assert parse(manifest).metadata.name == "digits"


@pytest.mark.parametrize(
    ("manifest", "field"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED]
)
def test_it_is_refused(manifest: dict[str, Any], field: str) -> None:
    with pytest.raises(ManifestError) as caught:
        parse(manifest)
    assert field in str(caught.value).splitlines()[0]


@pytest.mark.parametrize(
    ("manifest", "words"),
    [row[1:] for row in WORDS_OF_THE_SERVER],
    ids=[row[0] for row in WORDS_OF_THE_SERVER],
)
def test_the_words_are_those_of_the_server(manifest: dict[str, Any], words: str) -> None:
    with pytest.raises(ManifestError) as caught:
        parse(manifest)
    assert words in str(caught.value)


def test_a_text_may_stand_for_a_number_where_a_label_holds_it() -> None:
    assert parse(dim(max="64"), text_as_values=True).spec.dims["batch"].max == 64


def test_an_object_from_a_newer_api_server_is_accepted() -> None:
    assert parse(meta(uid="u", fieldOfTheFuture="x")).metadata.uid == "u"


def test_what_is_accepted_has_the_types_of_the_schema() -> None:
    sizes = parse(dim(max=64.0)).spec.dims["batch"]
    assert (sizes.max, type(sizes.max)) == (64, int)
    kwargs = {"factory": "model:build", "kwargs": {"scale": 1.0, "none": None}}
    model = parse({**VALID, "spec": {**VALID["spec"], "model": kwargs}}).spec.model
    assert model is not None
    assert model.kwargs == {"scale": 1.0, "none": None}
    assert isinstance(model.kwargs["scale"], float)
