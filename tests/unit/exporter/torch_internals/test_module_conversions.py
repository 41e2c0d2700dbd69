"""A module that forward converts to the dtype that it has."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from modelexport_exporter.torch_internals.module_conversions import conversions_without_effect
from unit.exporter.torch_internals.exporting import exported


class Router(nn.Module):
    def __init__(self, dtype: torch.dtype) -> None:
        super().__init__()
        self.classifier, self.dtype = nn.Linear(4, 3), dtype

    def forward(self, x: Tensor) -> Tensor:
        self.classifier = self.classifier.to(self.dtype)
        scores: Tensor = self.classifier(x.to(self.dtype))
        return scores


def test_nothing_is_converted() -> None:
    router, x = Router(torch.float32).eval(), torch.randn(2, 4)
    with pytest.raises(RuntimeError, match=r"Couldn't swap Linear\.weight"):
        exported(router, x, {})
    with conversions_without_effect():
        program = exported(router, x, {})
    torch.testing.assert_close(program.module()(x), router(x))


def test_a_conversion_converts() -> None:
    with conversions_without_effect():
        router = Router(torch.float64).eval()
        assert router(torch.randn(2, 4)).dtype is torch.float64
        assert next(router.parameters()).dtype is torch.float64
