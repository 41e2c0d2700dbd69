"""Signatures that torch.jit.script would refuse or take for others."""

# mypy: ignore-errors

from __future__ import annotations

from typing import Any

import pytest
import torch

from modelexport_exporter.torch_internals.script_annotations import Function, readable_signatures

X = torch.arange(6.0)


def first(x, count, *, scale=2.0, **kwargs):  # noqa: ANN001, ANN003
    return x[:count] * scale


def plus(x, y=None) -> object:  # noqa: ANN001
    return x if y is None else x + y


def read(x, *others) -> Any:  # noqa: ANN001, ANN002, ANN401
    return x + len(others)


def compiled(function: Any, **types: str) -> Any:  # noqa: ANN401
    code = function.__code__
    key = Function(code.co_filename, code.co_firstlineno, code.co_name)
    with readable_signatures({key: types}):
        return torch.jit.script(function)


def test_parameters_get_the_types_they_were_met_with() -> None:
    script = compiled(first, count="int", scale="float")
    assert torch.equal(script(X, 3), X[:3] * 2)
    assert torch.equal(script(X, 2, scale=0.5), X[:2] * 0.5)


def test_what_is_none_by_default_stays_optional() -> None:
    script = compiled(plus, y="Tensor")
    assert torch.equal(script(X), X)
    assert torch.equal(script(X, X), X + X)


def test_arguments_that_are_read_are_not_left_out() -> None:
    with pytest.raises(Exception, match="variable number of arguments"):
        compiled(read)
