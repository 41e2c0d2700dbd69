"""What a caller of modelexport.export states."""

from __future__ import annotations

import inspect
from collections import UserDict, namedtuple
from collections.abc import Callable
from typing import Any

import pytest

from modelexport.arguments import Sizes, arguments_of, dims_of, inputs_of, settings_of
from modelexport_api.spec import Dim, DType
from modelexport_cli.export_error import ExportError
from modelexport_exporter.core.proposal import StatedInput

Point = namedtuple("Point", "x y")


def one(x: object) -> None: ...


def two(x: object, mask: object = None) -> None: ...


def keyword(x: object, *, mask: object) -> None: ...


def batch(batch: object) -> None: ...


@pytest.mark.parametrize(
    ("forward", "args", "kwargs", "expected"),
    [
        (one, 1, None, ((1,), {})),
        (one, (1,), None, ((1,), {})),
        (one, [1], None, ((1,), {})),
        (two, (1, 2), None, ((1, 2), {})),
        (two, 1, {"mask": 2}, ((1,), {"mask": 2})),
        (keyword, (), {"x": 1, "mask": 2}, ((), {"x": 1, "mask": 2})),
        (keyword, {"x": 1, "mask": 2}, None, ((), {"x": 1, "mask": 2})),
        (keyword, UserDict(x=1, mask=2), None, ((), {"x": 1, "mask": 2})),
        (batch, {"x": 1, "mask": 2}, None, (({"x": 1, "mask": 2},), {})),
        (one, ([1, 2],), None, (([1, 2],), {})),
        (one, Point(1, 2), None, ((Point(1, 2),), {})),
        (one, None, None, ((None,), {})),
        (one, (), None, None),
    ],
)
def test_arguments_of_forward(
    forward: Callable[..., None],
    args: object,
    kwargs: dict[str, Any] | None,
    expected: object,
) -> None:
    assert arguments_of(args, kwargs, inspect.signature(forward)) == expected


def test_arguments_of_a_model_without_a_signature() -> None:
    assert arguments_of({"x": 1}, None, None) == (({"x": 1},), {})


@pytest.mark.parametrize(
    ("args", "kwargs", "message"),
    [
        ([1, 2, 3], None, "does not take 3 positional arguments: too many"),
        (1, {"masc": 2}, "does not take 1 positional arguments and masc: got an unexpected"),
    ],
)
def test_arguments_that_forward_does_not_take(
    args: object, kwargs: dict[str, Any] | None, message: str
) -> None:
    with pytest.raises(ExportError, match=message) as caught:
        arguments_of(args, kwargs, inspect.signature(two))
    assert caught.value.reason == "InputsMismatch"
    assert "args=([x, y],)" in caught.value.hint


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ((1, 16), Dim(min=1, max=16)),
        ([2, 4], Dim(min=2, max=4)),
        (16, Dim(min=1, max=16)),
        (Dim(min=3, max=3), Dim(min=3, max=3)),
    ],
)
def test_dims(sizes: Sizes, expected: Dim) -> None:
    assert dims_of({"batch": sizes}) == {"batch": expected}


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ((9, 1), r"dims: batch: \(9, 1\): the smallest size is larger than the largest"),
        ((1, 2, 3), "expected .smallest, largest., or the largest"),
        ("16", "expected .smallest, largest., or the largest"),
        (0, "dims: batch: 0: the smallest size"),
        ((-1, 2), "dims: batch: .-1, 2.: min: "),
    ],
)
def test_wrong_dims(sizes: Sizes, message: str) -> None:
    with pytest.raises(ExportError, match=message) as caught:
        dims_of({"batch": sizes})
    assert caught.value.reason == "InvalidManifest"
    assert "help(modelexport.export)" in caught.value.hint


@pytest.mark.parametrize("texts", ["ids:int64[2]", ["ids:int64[2]"]])
def test_inputs(texts: str | list[str]) -> None:
    assert inputs_of(texts) == (StatedInput("ids", DType.INT64, (2,)),)


def test_wrong_inputs_are_named_as_the_argument() -> None:
    with pytest.raises(ExportError, match="inputs: ids:int65: int65 is no dtype"):
        inputs_of(["ids:int65"])


def test_fields_of_the_spec_become_settings() -> None:
    settings = settings_of({"export": {"opset": 20}, "verification": {"benchmark": False}})
    assert settings == ((["export", "opset"], 20), (["verification", "benchmark"], False))


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"opset": 20}, "opset"),
        ({"export": {"opsets": 20}}, "export.opsets"),
        ({"export": 20}, "export"),
        ({"destination": "out"}, "destination"),
    ],
)
def test_wrong_fields_are_refused_before_anything_is_written(
    spec: dict[str, Any], message: str
) -> None:
    with pytest.raises(ExportError, match=message) as caught:
        settings_of(spec)
    assert caught.value.reason == "InvalidManifest"
