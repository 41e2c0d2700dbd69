"""What the library offers, and that its page says so."""

from __future__ import annotations

from inspect import signature
from pathlib import Path

import pytest
import torch
import transformers.integrations.moe  # noqa: F401 (defines an operator)

from modelexport_exporter.decompositions import provided
from modelexport_exporter.decompositions.documentation import page
from modelexport_exporter.decompositions.library import COMPOSITES, DECOMPOSITIONS, FAMILIES
from modelexport_exporter.decompositions.registry import Family, enabled
from modelexport_exporter.torch_internals.operators import find_overload

PAGE = Path(__file__).parents[4] / "docs" / "decompositions.md"


@pytest.mark.parametrize("name", [*DECOMPOSITIONS, *sorted(COMPOSITES)])
def test_torch_has_every_operator_of_the_catalogue(name: str) -> None:
    assert find_overload(name) is not None


@pytest.mark.parametrize("name", sorted(COMPOSITES))
def test_torch_defines_each_composite_by_others(name: str) -> None:
    operator = find_overload(name)
    assert operator is not None
    key = "CompositeImplicitAutograd"
    assert torch._C._dispatch_has_kernel_for_dispatch_key(operator.name(), key)  # type: ignore[no-untyped-call]


def test_no_operator_is_registered_twice() -> None:
    assert sum(len(family.decompositions) for family in FAMILIES) == len(DECOMPOSITIONS)


def test_operators_are_provided_without_their_overload() -> None:
    assert {"aten::erfinv", "aten::median", "aten::linalg_inv"} <= provided()
    assert not [name for name in provided() if "." in name]


@pytest.mark.parametrize(
    ("disabled", "expected"),
    [([], True), (["aten::elu"], True), (["aten::median"], False), (["*"], False)],
)
def test_an_operator_is_disabled_with_all_its_overloads(
    disabled: list[str], expected: bool
) -> None:
    assert enabled("aten::median.dim", disabled) is expected


@pytest.mark.parametrize("name", DECOMPOSITIONS)
def test_a_decomposition_takes_every_argument_of_its_operator(name: str) -> None:
    operator = find_overload(name)
    assert operator is not None
    arguments = operator._schema.arguments
    positional = [argument.name for argument in arguments if not argument.kwarg_only]
    keywords = {argument.name: None for argument in arguments if argument.kwarg_only}
    for function in (DECOMPOSITIONS[name].function, DECOMPOSITIONS[name].applies):
        signature(function).bind(*positional, **keywords)


def test_the_page_describes_the_catalogue() -> None:
    assert PAGE.read_text() == page(), "write it again: python -c 'print(page(), end=\"\")'"


def test_what_a_decomposition_applies_to_may_be_named_as_its_arguments_are() -> None:
    family = Family("Distances", None)

    @family.decomposes("aten::pdist", method="", applies=lambda _, order=2: order != 2)
    def pdist(x: torch.Tensor, p: float = 2) -> torch.Tensor:
        return x * p

    applies = family.decompositions["aten::pdist"].applies
    assert applies(None, p=1)
    assert applies(None, 1)
    assert not applies(None, p=2)
    assert not applies(None)
    with pytest.raises(TypeError):
        applies(None, power=1)
