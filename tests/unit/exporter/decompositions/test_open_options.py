"""Options made of sizes, captured at one size: the same as eager at the others."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from modelexport_exporter.convert.size_expressions import at_all_sizes
from modelexport_exporter.decompositions import capturing_calls
from modelexport_exporter.torch_internals.known_conditions import conditions_at_all_sizes

THETA = torch.arange(6.0).view(1, 2, 3)
MODELS: dict[str, Callable[[Tensor], Tensor]] = {
    "one hot": lambda x: F.one_hot(x[:, 0].abs().long() % 3, x.shape[0] + 3),
    "frames": lambda x: x.unfold(0, x.shape[0] // 2, 2),
    "steps": lambda x: x.unfold(1, 2, 1 + x.shape[0] // 20),
    "diagonal above": lambda x: (x @ x.t()).diagonal(x.shape[0] // 2),
    "diagonal below": lambda x: torch.diag(x @ x.t(), -(x.shape[0] // 2)),
    "diagonal of a stack": lambda x: (x[:, :, None, None] * x).diagonal(x.shape[0] // 3, 2, 0),
    "diagonal matrix": lambda x: torch.diag(x[:, 0], -(x.shape[0] // 3)),
    "diagonal matrices": lambda x: torch.diag_embed(x.t(), x.shape[0] // 2, 0, 2),
    "grid": lambda x: F.affine_grid(THETA, [1, 1, x.shape[0], 4], align_corners=False),
    "grid of corners": lambda x: F.affine_grid(THETA, [1, 1, 3, x.shape[0]], align_corners=True),
    "grid of cubes": lambda x: F.affine_grid(
        torch.arange(12.0).view(1, 3, 4), [1, 1, 2, 3, x.shape[0]], align_corners=False
    ),
    "frequencies": lambda x: torch.fft.fftfreq(x.shape[0]),
    "frequencies of reals": lambda x: torch.fft.rfftfreq(x.shape[0], 0.1),
    "Hann": lambda x: torch.hann_window(x.shape[0]),
    "Hann symmetric": lambda x: torch.hann_window(x.shape[0], periodic=False),
    "Hamming": lambda x: torch.hamming_window(x.shape[0], False, 0.5, 0.4),
    "Blackman": lambda x: torch.blackman_window(x.shape[0], dtype=torch.float64),
    "Kaiser": lambda x: torch.kaiser_window(x.shape[0]),
    "Kaiser symmetric": lambda x: torch.kaiser_window(x.shape[0], periodic=False, beta=8.6),
    "patches of whole columns": lambda x: F.unfold(x[None, None], (x.shape[0], 3), padding=(0, 1)),
    "patches with gaps": lambda x: F.unfold(
        x.view(1, 1, -1, 6).expand(2, 3, -1, 6), (x.shape[0] // 3, 2), (1, 2), (2, 0), (2, 1)
    ),
    "histogram": lambda x: torch.histc(x, x.shape[0] // 2, -1, 1),
    "histogram of the data's range": lambda x: x.histc(bins=x.shape[0]),
    "powers": lambda x: torch.vander(x[0], x.shape[0] // 2),
    "growing powers": lambda x: torch.vander(x[0].round().long(), x.shape[0] // 3, increasing=True),
    "Bartlett": lambda x: torch.bartlett_window(x.shape[0]),
    "maxima of windows": lambda x: F.max_pool1d(x.t()[None], x.shape[0] // 2),
    "means of windows": lambda x: F.avg_pool1d(x.t()[None], x.shape[0] // 2, 1, ceil_mode=True),
    "maxima of shares": lambda x: F.adaptive_max_pool2d(x[None], (x.shape[0] // 2, 3)),
    "maxima of rows": lambda x: torch.nn.AdaptiveMaxPool2d((x.shape[0] // 2, None))(x[None]),
    "means of shares": lambda x: F.adaptive_avg_pool1d(x.t()[None], x.shape[0] // 2),
}


class Model(torch.nn.Module):
    def __init__(self, name: str) -> None:
        super().__init__()
        self._compute = MODELS[name]

    def forward(self, x: Tensor) -> Tensor:
        return self._compute(x)


@pytest.mark.parametrize("name", MODELS)
def test_every_size(name: str) -> None:
    model = Model(name)
    size = torch.export.Dim("n", min=6, max=40)
    with conditions_at_all_sizes(at_all_sizes), capturing_calls(()):
        program = torch.export.export(
            model,
            (torch.randn(13, 6),),
            dynamic_shapes=({0: size},),
            prefer_deferred_runtime_asserts_over_guards=True,
        )
    captured = program.module()
    for n in (6, 7, 9, 12, 20, 31):
        x = torch.randn(n, 6)
        torch.testing.assert_close(captured(x), model(x))


WINDOWS = (
    torch.hann_window,
    torch.hamming_window,
    torch.blackman_window,
    torch.bartlett_window,
    torch.kaiser_window,
)


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("periodic", [True, False])
def test_one_place(window: Callable[..., Tensor], periodic: bool) -> None:
    class Window(torch.nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return window(x.shape[0], periodic=periodic)

    with capturing_calls(()):
        dims = ({0: torch.export.Dim("n", min=1, max=40)},)
        captured = torch.export.export(Window(), (torch.randn(5),), dynamic_shapes=dims).module()
    for n in (1, 2, 3):
        torch.testing.assert_close(captured(torch.randn(n)), window(n, periodic=periodic))
