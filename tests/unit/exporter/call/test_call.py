"""From declared inputs to forward's arguments, as tables."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest
import torch
from torch.export import Dim

from modelexport_api.reasons import Reason
from modelexport_api.spec import ModelExportSpec
from modelexport_exporter.call import Numbers, bind_inputs
from modelexport_exporter.core.errors import ExportFailure

Tensor = torch.Tensor
Input = dict[str, Any]


class Pair(NamedTuple):
    h: Tensor
    c: Tensor


@dataclass
class Box:
    first: Tensor
    more: list[Tensor]


def plain(x: object, y: object, mask: object = None, *, scale: object = 1.0) -> None: ...
def only_variadic(*args: object, **kwargs: object) -> None: ...
def with_rest(x: object, **rest: object) -> None: ...
def spread(*xs: object) -> None: ...
def typed(
    pair: Pair | None,
    rows: list[tuple[Tensor, Tensor]],
    named: dict[int, Tensor],
    box: Box,
) -> None: ...
def constants(size: tuple[int, int], ratio: float | None, names: list[str], n: int) -> None: ...
@functools.wraps(plain)
def wrapping(*args: object, **kwargs: object) -> None: ...


def module(forward: Callable[..., None]) -> torch.nn.Module:
    made = torch.nn.Module()
    made.forward = forward
    return made


def spec_of(inputs: list[Input]) -> ModelExportSpec:
    document = {
        "source": {"uri": "file:///checkpoint"},
        "inputs": inputs,
        "dims": {"n": {"min": 2, "max": 9}},
        "destination": {"uri": "file:///artifacts/"},
    }
    return ModelExportSpec.model_validate(document)


def tensors(*names: str) -> list[Input]:
    return [{"name": name} for name in names]


def constant(name: str, value: object) -> Input:
    return {"name": name, "kind": "Constant", "value": value}


class Named(str):
    """Stands for the tensor of this name, so that arguments can be compared."""


def arguments(inputs: list[Input], forward: Callable[..., None]) -> tuple[Any, Any]:
    call = bind_inputs(spec_of(inputs), module(forward), None).call
    return call.arguments({name: Named(name) for name in call.input_names})  # type: ignore[misc]


CALLS: dict[str, tuple[Callable[..., None], list[Input], tuple[Any, ...], dict[str, Any]]] = {
    "in order, by other names": (plain, tensors("a", "b"), ("a", "b"), {}),
    "by name, in another order": (plain, tensors("y", "x"), ("x", "y"), {}),
    "a gap": (plain, tensors("scale", "x"), ("x",), {"scale": "scale"}),
    "a gap before an ordinary one": (plain, tensors("mask", "x"), ("x",), {"mask": "mask"}),
    "keyword-only": (plain, tensors("x", "y", "scale"), ("x", "y"), {"scale": "scale"}),
    "one name is not forward's": (plain, tensors("x", "z"), ("x", "z"), {}),
    "behind functools.wraps": (wrapping, tensors("y", "x"), ("x", "y"), {}),
    "a signature that says nothing": (only_variadic, tensors("a", "b"), ("a", "b"), {}),
    "**rest": (with_rest, tensors("bias", "x"), ("x",), {"bias": "bias"}),
    "**rest, without what is required": (with_rest, tensors("image"), ("image",), {}),
    "*xs": (spread, tensors("xs.0", "xs.1"), ("xs.0", "xs.1"), {}),
    "a tuple, without annotation": (plain, tensors("x.0", "x.1"), (("x.0", "x.1"),), {}),
    "a dict": (plain, tensors("x.b", "x.a"), ({"b": "x.b", "a": "x.a"},), {}),
    "a dict of tuples": (plain, tensors("x.k.0", "x.k.1"), ({"k": ("x.k.0", "x.k.1")},), {}),
    "nested, in order": (plain, tensors("s.0", "s.1", "t"), (("s.0", "s.1"), "t"), {}),
    "a sequence": (
        plain,
        [{"name": "x", "kind": "Sequence", "length": 2}],
        (["x.0", "x.1"],),
        {},
    ),
    "constants": (
        constants,
        [
            constant("size", [3, 4]),
            constant("ratio", 2),
            constant("names", ["a"]),
            constant("n", 7),
        ],
        ((3, 4), 2.0, ["a"], 7),
        {},
    ),
    "None": (plain, [*tensors("x"), constant("y", None)], ("x", None), {}),
}


@pytest.mark.parametrize("name", CALLS)
def test_arguments(name: str) -> None:
    forward, inputs, args, kwargs = CALLS[name]
    assert arguments(inputs, forward) == (args, kwargs)


def test_annotations_choose_the_containers() -> None:
    inputs = tensors(
        "pair.c", "pair.h", "rows.0.0", "rows.0.1", "named.3", "box.first", "box.more.0"
    )
    (pair, rows, named, box), _ = arguments(inputs, typed)
    assert pair == Pair(Named("pair.h"), Named("pair.c"))  # type: ignore[arg-type]
    assert isinstance(pair, Pair)
    assert rows == [("rows.0.0", "rows.0.1")]
    assert named == {3: "named.3"}
    assert box == Box("box.first", ["box.more.0"])  # type: ignore[arg-type, list-item]


@pytest.mark.parametrize("name", ["input.1", "x.4"])
def test_a_number_that_counts_nothing_is_a_part_of_the_name(name: str) -> None:
    assert arguments(tensors(name), spread) == ((name,), {})


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        (tensors("x", "x.0"), "input x is declared as a whole and as x.0"),
        (tensors("x.0", "x"), "input x is declared as a whole and in parts"),
        (tensors("x.0", "x.2"), "must be counted from 0"),
        (tensors("x.0", "x.key"), "input x.0 is a place in a list"),
        (tensors("x..y"), "a part of its name is empty"),
        ([{"name": "x", "value": 3}], "of kind Tensor and has a value"),
    ],
)
def test_contradictions_are_the_manifest_s(inputs: list[Input], said: str) -> None:
    with pytest.raises(ExportFailure, match=said) as caught:
        bind_inputs(spec_of(inputs), module(plain), None)
    assert caught.value.reason is Reason.INVALID_MANIFEST


def test_more_inputs_than_parameters() -> None:
    with pytest.raises(
        ExportFailure, match=r"declare 4 \(a, b, c, d\), but the model takes 3"
    ) as got:
        bind_inputs(spec_of(tensors("a", "b", "c", "d")), module(plain), None)
    assert got.value.reason is Reason.INPUTS_MISMATCH
    assert "forward(x, y, mask=None, *, scale=1.0)" in got.value.message


NUMBERS: list[Input] = [
    {"name": "x", "kind": "Int", "range": [-3, -2]},
    {"name": "y", "kind": "Float"},
    {"name": "mask", "kind": "Bool"},
]


@pytest.mark.parametrize(
    ("numbers", "types"),
    [
        (Numbers.PYTHON, (int, float, bool)),
        (Numbers.SYMBOLIC, (int, Tensor, Tensor)),
        (Numbers.TENSORS, (Tensor, Tensor, Tensor)),
    ],
)
def test_numbers(numbers: Numbers, types: tuple[type, ...]) -> None:
    bound_inputs = bind_inputs(spec_of(NUMBERS), module(plain), None)
    args, _ = bound_inputs.call.example({}, numbers=numbers)
    assert tuple(type(value) for value in args) == types
    assert int(args[0]) in {-3, -2}
    assert [entry.dtype.value for entry in bound_inputs.spec.inputs] == ["int64", "float32", "bool"]
    assert all(entry.shape == [] for entry in bound_inputs.spec.inputs)


def test_an_int_of_the_capture_is_no_size_of_it() -> None:
    inputs: list[Input] = [{"name": "x", "shape": ["n", 2]}, {"name": "y", "kind": "Int"}]
    call = bind_inputs(spec_of(inputs), module(plain), None).call
    assert call.example({"n": 3})[0][1] == 4
    assert call.example({"n": 5})[0][1] == 3


def test_dims_and_names_follow_the_leaves() -> None:
    inputs: list[Input] = [
        {"name": "scale", "shape": [4]},
        {"name": "y.0", "shape": ["n", 4]},
        {"name": "y.1", "shape": [4, "n"]},
        {"name": "x", "kind": "Int"},
        constant("mask", [1, 2]),
    ]
    bound_inputs = bind_inputs(spec_of(inputs), module(plain), None)
    assert bound_inputs.call.input_names == ["x", "y.0", "y.1", "scale"]
    assert bound_inputs.call.dynamic_axes() == {
        "x": {},
        "y.0": {0: "n"},
        "y.1": {1: "n"},
        "scale": {},
    }
    shapes = bound_inputs.call.dynamic_shapes(plain)
    assert shapes["x"] is Dim.DYNAMIC
    assert [{axis: dim.__name__ for axis, dim in part.items()} for part in shapes["y"]] == [
        {0: "n"},
        {1: "n"},
    ]
    assert shapes["mask"] == [None, None]
    assert shapes["scale"] is None
