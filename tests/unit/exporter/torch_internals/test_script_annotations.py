"""What torch.jit.script is told of forward's parameters that are no tensors."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from modelexport_exporter.torch_internals.script_annotations import types_of

X = torch.ones(2)


def forward(x: Any, count: Any, *, mask: Any = None, scale: Any = 1.0) -> Any:  # noqa: ANN401
    return x, count, mask, scale


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (3, "int"),
        (True, "bool"),
        (0.5, "float"),
        (X, "Tensor"),
        ([X, X], "List[Tensor]"),
        ((X, 2), "Tuple[Tensor, int]"),
        ({"a": [X]}, "Dict[str, List[Tensor]]"),
        ([], ""),
        (torch.float32, ""),
    ],
)
def test_types_of_arguments(value: object, kind: str) -> None:
    assert types_of(forward, X, value) == {
        "x": "Tensor",
        "count": kind,
        "mask": "Optional[Tensor]",
        "scale": "float",
    }
