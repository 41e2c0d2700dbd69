"""How the arguments of an operator reach symbolic functions of every year."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelexport_exporter.plugins.legacy.signatures import Signature, bind, read_signature

ELU = ["self", "alpha", "scale", "input_scale"]


def of_2018(g: object, input: object, alpha: object, inplace: bool = False) -> None: ...  # noqa: A002
def shorter(g: object, self: object, alpha: object) -> None: ...
def todays(g: object, x: object, alpha: object, scale: object, input_scale: object) -> None: ...
def permuted(
    g: object, self: object, scale: object, alpha: object, input_scale: object
) -> None: ...
def any_arguments(g: object, *args: object) -> None: ...
def with_context(ctx: object, g: object, self: object, alpha: object) -> None: ...
def renamed(g: object, x: object, a: object) -> None: ...


@pytest.mark.parametrize(
    ("function", "positions", "keywords", "adapted"),
    [
        (of_2018, (), {"input": 0, "alpha": 1}, True),
        (shorter, (), {"self": 0, "alpha": 1}, True),
        (todays, (0, 1, 2, 3), {}, False),
        (permuted, (), {"self": 0, "scale": 2, "alpha": 1, "input_scale": 3}, True),
        (any_arguments, (0, 1, 2, 3), {}, False),
        (with_context, (), {"self": 0, "alpha": 1}, True),
        (renamed, (), {"x": 0, "a": 1}, True),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_elu(
    function: Callable[..., Any],
    positions: tuple[int, ...],
    keywords: dict[str, int],
    adapted: bool,
) -> None:
    signature = read_signature(function)
    assert signature is not None
    binding = bind(signature, ELU)
    assert binding is not None
    assert (binding.positions, binding.keywords) == (positions, keywords)
    assert binding.adapted is adapted


def test_parameter_without_an_argument_is_rejected() -> None:
    assert bind(Signature(("self", "dim", "keepdim")), ["self", "dim"]) is None


def test_context_parameter_is_recognised() -> None:
    signature = read_signature(with_context)
    assert signature is not None
    assert signature.takes_context


NAMES = st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=6)


@given(NAMES, NAMES, st.lists(st.sampled_from("abcdefgh"), unique=True, min_size=1, max_size=8))
def test_each_parameter_gets_its_own_argument(
    required: list[str], optional: list[str], arguments: list[str]
) -> None:
    optional = [name for name in optional if name not in required]
    signature = Signature(tuple(required), tuple(optional))
    binding = bind(signature, arguments)
    if binding is None:
        assert len(required) > len(arguments)
        return
    passed = [*binding.positions, *binding.keywords.values()]
    assert len(set(passed)) == len(passed)
    assert binding.positions or set(required) <= set(binding.keywords)
