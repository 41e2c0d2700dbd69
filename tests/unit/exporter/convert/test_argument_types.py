"""What is known of arguments after a run."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from modelexport_exporter.convert.argument_types import argument_types, type_of

X = torch.ones(2)


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (None, "None"),
        (3, "int"),
        (True, "bool"),
        (0.5, "float"),
        (X, "Tensor"),
        ([X, X], "List[Tensor]"),
        ((X, 2), "Tuple[Tensor, int]"),
        ({"a": [X]}, "Dict[str, List[Tensor]]"),
        ([], ""),
        ((X, torch.float32), ""),
    ],
)
def test_types_of_values(value: object, kind: str) -> None:
    assert type_of(value) == kind


def inner(x: Any, count: Any = 2, *rest: Any, mask: Any = None, **others: Any) -> Any:  # noqa: ANN401
    return x, count, rest, mask, others


def types_of_inner(*calls: Any, **named: Any) -> dict[str, str]:  # noqa: ANN401
    found = argument_types(lambda: [inner(*call, **named) for call in calls])
    (own,) = [types for function, types in found.items() if function.name == "inner"]
    return own


def test_types_of_parameters() -> None:
    assert types_of_inner((X,)) == {"x": "Tensor", "count": "int", "mask": "Optional[Tensor]"}
    assert types_of_inner((X, 3, "rest"), other=1)["count"] == "int"


def test_none_makes_a_type_optional_and_several_types_are_none() -> None:
    assert types_of_inner((X, 3), (X, None))["count"] == "Optional[int]"
    assert "count" not in types_of_inner((X, 3), (X, 0.5))


def test_calls_that_torch_makes_inside_are_not_looked_at() -> None:
    found = argument_types(lambda: torch.nn.Linear(2, 2)(X))
    assert not any("/torch/" in function.file for function in found)
