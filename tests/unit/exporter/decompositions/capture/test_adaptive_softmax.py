"""nn.AdaptiveLogSoftmaxWithLoss without branches computes what the layer computes."""

# mypy: ignore-errors

from __future__ import annotations

import pytest
import torch
from torch import nn

from modelexport_exporter.decompositions.capture.adaptive_softmax import adaptive_softmax

LAYER = nn.AdaptiveLogSoftmaxWithLoss(8, 30, [5, 12], head_bias=True)


@pytest.mark.parametrize("rows", [1, 2, 200])
def test_predictions_are_the_layers(rows: int) -> None:
    x = torch.randn(rows, 8, generator=torch.Generator().manual_seed(rows)) * 9
    want = LAYER.predict(x)
    with adaptive_softmax():
        torch.testing.assert_close(LAYER.predict(x), want)


@pytest.mark.parametrize("target", [torch.arange(30), torch.tensor([2, 29]), torch.tensor(17)])
def test_losses_are_the_layers(target: torch.Tensor) -> None:
    x = torch.randn(*target.shape, 8)
    want = LAYER(x, target)
    with adaptive_softmax():
        got = LAYER(x, target)
    assert type(got) is type(want)
    torch.testing.assert_close(got.output, want.output)
    torch.testing.assert_close(got.loss, want.loss)


def test_torch_export_captures_it_for_any_number_of_rows() -> None:
    class Predicting(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = LAYER

        def forward(self, x):  # noqa: ANN001, ANN202
            return self.layer.predict(x)

    rows = torch.export.Dim.DYNAMIC
    with adaptive_softmax():
        program = torch.export.export(
            Predicting(), (torch.randn(3, 8),), dynamic_shapes=({0: rows},)
        )
    x = torch.randn(50, 8) * 9
    torch.testing.assert_close(program.module()(x), LAYER.predict(x))
