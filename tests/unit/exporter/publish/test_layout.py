"""Where files lie, and in which order they may appear."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelexport_api.spec import Layout
from modelexport_exporter.publish.layout import (
    content_name,
    is_content,
    is_data,
    is_ours,
    model_name,
    promotion_order,
    published_name,
)

DATA = "model.0123456789ab.data"


@pytest.mark.parametrize(
    ("name", "in_triton"),
    [
        ("model.onnx", "1/model.onnx"),
        (DATA, f"1/{DATA}"),
        ("config.pbtxt", "config.pbtxt"),
        ("report.json", "report.json"),
        ("provenance.intoto.jsonl", "provenance.intoto.jsonl"),
    ],
)
def test_places(name: str, in_triton: str) -> None:
    assert published_name(Layout.PLAIN, name) == name
    assert published_name(Layout.TRITON, name) == in_triton
    assert is_ours(name)
    assert is_ours(in_triton)


@pytest.mark.parametrize(
    "name",
    [
        "2/model.onnx",
        "1/config.pbtxt",
        "model.data",
        "1/1/model.onnx",
        "labels.txt",
        "1/",
        "x.onnx",
    ],
)
def test_what_is_not_ours(name: str) -> None:
    assert not is_ours(name)
    assert not is_data(name)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("model.onnx", "model.0123456789abcdef0123456789abcdef.onnx"),
        ("1/model.onnx", "1/model.0123456789abcdef0123456789abcdef.onnx"),
        (DATA, DATA),
        (f"1/{DATA}", f"1/{DATA}"),
        ("config.pbtxt", ".modelexport/config.0123456789abcdef0123456789abcdef.pbtxt"),
        (
            "provenance.intoto.jsonl",
            ".modelexport/provenance.intoto.0123456789abcdef0123456789abcdef.jsonl",
        ),
    ],
)
def test_names_of_contents(name: str, expected: str) -> None:
    assert content_name(name, "0123456789abcdef" * 4) == expected
    assert is_content(expected)
    assert is_ours(expected)


@pytest.mark.parametrize("name", ["model.onnx", "report.json", "model.0123.onnx", ".modelexport/x"])
def test_plain_names_name_no_content(name: str) -> None:
    assert not is_content(name)


@pytest.mark.parametrize("layout", Layout)
@given(
    order=st.permutations(["report.json", "model.onnx", DATA, "config.pbtxt", "provenance.json"])
)
def test_data_comes_first_and_documents_about_the_model_last(
    layout: Layout, order: list[str]
) -> None:
    placed = promotion_order([published_name(layout, name) for name in order])
    *before, model, last, very_last = [name.removeprefix("1/") for name in placed]
    assert sorted(before) == ["config.pbtxt", DATA]
    assert model == "model.onnx"
    assert (last, very_last) == ("provenance.json", "report.json")


@pytest.mark.parametrize("uri", ["s3://b/repo/my_model/", "file:///repo/my_model"])
def test_a_directory_is_the_model_s_name(uri: str) -> None:
    assert model_name(uri) == "my_model"
