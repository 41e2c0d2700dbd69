"""Batch normalization in training against eager."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F  # noqa: N812

from modelexport_exporter.decompositions.library import DECOMPOSITIONS
from modelexport_exporter.decompositions.ops.batch_statistics import native_batch_norm
from modelexport_exporter.decompositions.ops.double_norms import batch_norm

G = torch.Generator().manual_seed(1)
WEIGHT, BIAS, MEAN = (torch.randn(3, generator=G) for _ in range(3))
VARIANCE = torch.rand(3, generator=G) + 0.5


@pytest.mark.parametrize("shape", [(4, 3), (2, 3, 5), (1, 3, 2, 2)])
@pytest.mark.parametrize("scaled", [False, True])
def test_the_statistics_are_those_of_the_batch(shape: tuple[int, ...], scaled: bool) -> None:
    x = torch.randn(shape, generator=G) * 3 + 1
    weight, bias = (WEIGHT, BIAS) if scaled else (None, None)
    mean, variance = MEAN.clone(), VARIANCE.clone()
    want = F.batch_norm(x, mean, variance, weight, bias, True, 0.3, 0.01)
    found = native_batch_norm(x, weight, bias, MEAN, VARIANCE, True, 0.3, 0.01)
    torch.testing.assert_close(found[0], want)
    torch.testing.assert_close(found[3:], (mean, variance))
    own = batch_norm(x, weight, bias, MEAN, VARIANCE, True, 0.3, 0.01, False)
    torch.testing.assert_close(own, want)


def test_evaluation_in_float32_is_left_to_torch() -> None:
    x = torch.ones(2, 3)
    named = (WEIGHT, BIAS, MEAN, VARIANCE)
    applies = DECOMPOSITIONS["aten::batch_norm"].applies
    assert not applies(x, *named, False, 0.1, 1e-5, False)
    assert not applies(x, WEIGHT, BIAS, None, None, True, 0.1, 1e-5, False)
    assert applies(x, *named, True, 0.1, 1e-5, False)
    functional = DECOMPOSITIONS["aten::_native_batch_norm_legit_functional"].applies
    assert not functional(x, *named, False, 0.1, 1e-5)
