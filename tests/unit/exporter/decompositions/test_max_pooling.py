"""The last windows of maximum pools: each size around the place where one begins in the margin."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from modelexport_exporter.decompositions import capturing_calls
from modelexport_exporter.decompositions.catalogue import DECOMPOSITIONS

OPTIONS = [
    pytest.param({"kernel_size": 2, "stride": 5}, True, id="strides over the end"),
    pytest.param({"kernel_size": 2, "padding": 1}, True, id="a wide margin"),
    pytest.param({"kernel_size": 2, "stride": 3, "padding": 1, "dilation": 2}, True, id="dilated"),
    pytest.param({"kernel_size": 3, "stride": 2, "padding": 1}, False, id="as in ResNet"),
]


@pytest.mark.parametrize(("options", "needed"), OPTIONS)
@pytest.mark.parametrize("dims", [1, 2, 3])
def test_every_size(options: dict[str, Any], needed: bool, dims: int) -> None:
    entry = DECOMPOSITIONS[f"aten::max_pool{dims}d"]
    pool = getattr(torch, f"max_pool{dims}d")
    for size in range(5, 12):
        x = torch.randn(2, 3, *range(size, size + dims))
        expected = pool(x, **options, ceil_mode=True)
        assert entry.applies(x, **options, ceil_mode=True) is needed
        assert not entry.applies(x, **options)
        assert torch.equal(entry.function(x, **options, ceil_mode=True), expected)
        assert torch.equal(entry.function(x, **options), pool(x, **options))


def test_a_dynamic_length_stays_one() -> None:
    class Pool(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.nn.functional.max_pool1d(x, 3, 2, 1, ceil_mode=True)

    length = torch.export.Dim("length", min=4, max=40)
    x = torch.randn(2, 3, 9)
    with capturing_calls(()):
        program = torch.export.export(Pool(), (x,), dynamic_shapes=({2: length},))
    longer = torch.randn(2, 3, 20)
    assert torch.equal(program.module()(longer), Pool()(longer))
