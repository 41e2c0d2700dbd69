"""The last windows of pools: each size around the place where one begins in the margin."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from modelexport_exporter.decompositions import capturing_calls
from modelexport_exporter.decompositions.ops.ceil_windows import max_pool_ceil

OPTIONS = [
    pytest.param({"kernel_size": 2, "stride": 5}, id="strides over the end"),
    pytest.param({"kernel_size": 2, "padding": 1}, id="a wide margin"),
    pytest.param({"kernel_size": 2, "stride": 3, "padding": 1, "dilation": 2}, id="dilated"),
    pytest.param({"kernel_size": 3, "stride": 2, "padding": 1}, id="as in ResNet"),
]


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("dims", [1, 2, 3])
def test_every_size(options: dict[str, Any], dims: int) -> None:
    pool = getattr(torch, f"max_pool{dims}d")
    for size in range(5, 12):
        x = torch.randn(2, 3, *range(size, size + dims))
        expected = pool(x, **options, ceil_mode=True)
        assert torch.equal(max_pool_ceil(x, dims, **options), expected)


class Pool(torch.nn.Module):
    def __init__(self, name: str, options: dict[str, Any]) -> None:
        super().__init__()
        self._pool = getattr(torch.nn.functional, name)
        self._options = options

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        pooled: torch.Tensor = self._pool(x, **self._options, ceil_mode=True)
        return pooled


BEYOND = {"kernel_size": 2, "stride": 5}


@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize(
    ("kind", "options"),
    [
        pytest.param("max", {"kernel_size": 3, "stride": 2, "padding": 1}, id="as in ResNet"),
        pytest.param("max", BEYOND, id="beyond"),
        pytest.param("avg", {"kernel_size": 3, "stride": 2, "padding": 1}, id="average"),
        pytest.param("avg", {"kernel_size": 2, "count_include_pad": False}, id="shortcut"),
        pytest.param(
            "avg",
            {"kernel_size": 3, "stride": 2, "padding": 1, "count_include_pad": False},
            id="margins not counted",
        ),
        pytest.param("avg", BEYOND, id="average beyond"),
    ],
)
def test_dynamic_sizes_stay_dynamic(kind: str, options: dict[str, Any], dims: int) -> None:
    model = Pool(f"{kind}_pool{dims}d", options)
    sizes = {axis: torch.export.Dim(f"d{axis}", min=6, max=40) for axis in range(2, 2 + dims)}
    x = torch.randn(2, 3, *range(9, 9 + dims))
    with capturing_calls(()):
        captured = torch.export.export(model, (x,), dynamic_shapes=({**sizes},)).module()
    for size in range(6, 17):
        x = torch.randn(2, 3, *range(size, size + dims))
        torch.testing.assert_close(captured(x), model(x))
