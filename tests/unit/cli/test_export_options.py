"""What the options of `modelexport export` mean."""

from __future__ import annotations

import pytest

from modelexport_api.resource import ManifestError
from modelexport_api.spec import Dim, DType, InputKind
from modelexport_cli.export_options import (
    ExportOptions,
    name_of,
    out_of,
    parse_dim,
    parse_input,
    parse_setting,
    uri_of,
)
from modelexport_exporter.core.proposal import StatedInput


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x", StatedInput("x")),
        ("x:float16", StatedInput("x", DType.FLOAT16)),
        ("x[batch,3,224,224]", StatedInput("x", None, ("batch", 3, 224, 224))),
        (
            "ids:int64[batch, seq]:0..999",
            StatedInput("ids", DType.INT64, ("batch", "seq"), (0.0, 999.0)),
        ),
        ("x[n,2*m]", StatedInput("x", None, ("n", "2 * m"))),
        ("x[n-1]:-1..1", StatedInput("x", None, ("n - 1",), (-1.0, 1.0))),
        ("x:float32[]", StatedInput("x", DType.FLOAT32, ())),
        (
            "mask:PaddingMask[b,s]",
            StatedInput("mask", None, ("b", "s"), None, InputKind.PADDING_MASK),
        ),
        ("n:int", StatedInput("n", None, None, None, InputKind.INT)),
        ("cache.0.key:float32", StatedInput("cache.0.key", DType.FLOAT32)),
        ("x:float32:0.5..1e3", StatedInput("x", DType.FLOAT32, None, (0.5, 1000.0))),
    ],
)
def test_each_part_of_an_input_may_be_left_out(text: str, expected: StatedInput) -> None:
    assert parse_input(text) == expected


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "expected name:dtype[shape]:range"),
        ("3x", "expected name:dtype[shape]:range"),
        ("x:flaot32", "did you mean float32?"),
        ("x:double", "double is no dtype"),
        ("x[batch,-1]", "-1 is no size"),
        ("x:int64[n]:0-9", "0-9 is no range; expected 0..999"),
        ("x:int64[n]:9..0", "9..0 ends before it begins"),
    ],
)
def test_a_wrong_input_says_what_is_expected(text: str, says: str) -> None:
    with pytest.raises(ManifestError, match="--input") as caught:
        parse_input(text)
    assert says in str(caught.value)


def test_dims() -> None:
    assert parse_dim("seq=1..512") == ("seq", Dim(min=1, max=512))


@pytest.mark.parametrize("text", ["seq", "seq=512", "seq=a..b", "seq=1.5..3", "3=1..2", "seq=9..1"])
def test_a_wrong_dim_is_refused(text: str) -> None:
    with pytest.raises(ManifestError, match=f"--dim {text}"):
        parse_dim(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("export.opset=18", (["export", "opset"], 18)),
        ("spec.source.allowPickle=true", (["source", "allowPickle"], True)),
        ("destination.layout=Triton", (["destination", "layout"], "Triton")),
        ("model.kwargs.widths=[1, 2]", (["model", "kwargs", "widths"], [1, 2])),
    ],
)
def test_settings_are_json_or_text(text: str, expected: tuple[list[str], object]) -> None:
    assert parse_setting(text) == expected


@pytest.mark.parametrize(
    ("checkpoint", "expected"),
    [
        ("net.pt", "net"),
        ("runs/fold_3/best.pt", "fold-3"),
        ("bert-base-uncased/", "bert-base-uncased"),
        ("s3://models/digits/checkpoint.pt", "digits"),
        ("s3://models/checkpoint.pt", "models"),
        ("checkpoint.pt", "checkpoint"),
        ("My Model (v2).pt", "my-model-v2"),
        ("___.pt", "model"),
        ("x" * 200 + ".pt", "x" * 63),
    ],
)
def test_the_name_is_that_of_the_checkpoint(checkpoint: str, expected: str) -> None:
    assert name_of(ExportOptions(checkpoint)) == expected
    assert out_of(ExportOptions(checkpoint)) == f"{expected}-onnx/"


def test_paths_become_uris() -> None:
    assert uri_of("/models/a b", directory=True) == "file:///models/a%20b/"
    assert uri_of("s3://models/x", directory=True) == "s3://models/x/"
    assert uri_of("s3://models/x") == "s3://models/x"
