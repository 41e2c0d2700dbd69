"""Calls of PyTorch's operators, written as nodes and read back."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from modelexport_exporter.plugins.fall_through.operators import (
    ARGUMENTS,
    OVERLOAD,
    CannotFallThroughError,
    read_node,
    write_node,
)

X = torch.tensor([[0.5, -0.25, 0.75], [0.1, 0.9, -0.9]])
ATEN = torch.ops.aten
CALLS = {
    "one tensor": (ATEN.erfinv.default, {"self": X}),
    "attributes": (ATEN.kthvalue.default, {"self": X, "k": 2, "dim": -1, "keepdim": True}),
    "overload": (ATEN.bucketize.Tensor, {"self": X, "boundaries": X[0].sort().values}),
    "list of tensors": (ATEN.cat.default, {"tensors": [X, X], "dim": 1}),
    "absent tensors": (ATEN.index.Tensor, {"self": X, "indices": [None, torch.tensor([2, 0])]}),
    "absent in the middle": (
        ATEN.clamp.Tensor,
        {"self": X, "min": None, "max": torch.tensor(0.5)},
    ),
    "size as an input": (ATEN.expand.default, {"self": X[:, :1], "size": [2, 3]}),
    "dtype": (ATEN.sum.dim_IntList, {"self": X, "dim": [1], "dtype": torch.float64}),
    "empty list": (ATEN.sum.dim_IntList, {"self": X, "dim": []}),
    "text": (ATEN.div.Tensor_mode, {"self": X, "other": X, "rounding_mode": "floor"}),
    "number for a tensor": (ATEN.fmod.Scalar, {"self": X, "other": 0.3}),
}


@pytest.mark.parametrize(("operator", "arguments"), CALLS.values(), ids=CALLS)
def test_node_is_read_back_as_the_same_call(
    operator: torch._ops.OpOverload, arguments: dict[str, Any]
) -> None:
    node = write_node(operator._schema, arguments, torch.Tensor)
    call = read_node(node.domain, node.op_type, node.attributes, len(node.inputs))
    assert call is not None
    assert call.operator is operator
    expected = operator(**arguments)
    expected = expected if isinstance(expected, tuple) else (expected,)
    for got, wanted in zip(call(node.inputs), expected, strict=True):
        assert torch.equal(got, wanted)


def test_sizes_can_be_inputs() -> None:
    size = [torch.tensor(2), torch.tensor(3)]
    node = write_node(ATEN.expand.default._schema, {"self": X[:, :1], "size": size}, torch.Tensor)
    assert node.attributes[ARGUMENTS] == ["self", "size.0", "size.1"]
    call = read_node(node.domain, node.op_type, node.attributes, 3)
    assert call is not None
    assert torch.equal(call(node.inputs)[0], X[:, :1].expand(2, 3))


def test_plain_call_has_no_extra_attributes() -> None:
    node = write_node(ATEN.erfinv.default._schema, {"self": X}, torch.Tensor)
    assert (node.domain, node.op_type, node.attributes) == ("aten", "erfinv", {})
    node = write_node(ATEN.bucketize.Tensor._schema, {"self": X, "boundaries": X}, torch.Tensor)
    assert node.attributes == {OVERLOAD: "Tensor"}


def test_argument_that_no_attribute_can_hold_is_rejected() -> None:
    with pytest.raises(CannotFallThroughError, match="k is a complex"):
        write_node(ATEN.kthvalue.default._schema, {"self": X, "k": 1j}, torch.Tensor)


@pytest.mark.parametrize(
    ("domain", "op_type"), [("", "Add"), ("aten", "nothing"), ("custom_domain", "Foo")]
)
def test_node_that_torch_does_not_have_is_none(domain: str, op_type: str) -> None:
    assert read_node(domain, op_type, {}, 1) is None
