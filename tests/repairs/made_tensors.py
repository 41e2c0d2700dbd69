"""Calls of decomposed operators that make windows, histograms, combinations and powers."""

from __future__ import annotations

import torch

from repairs.check import Call

X = torch.tensor([0.3, -1.7, 2.2, 0.9])
EDGES = torch.linspace(-0.3, 1.1, 8)
EDGES = torch.cat([EDGES, EDGES.nextafter(X[1]), EDGES.nextafter(X[2]), X])


def _windows(names: str, *args: object) -> dict[str, list[Call]]:
    return {f"aten::{name}": [Call(args)] for name in names.split()}


CALLS: dict[str, list[Call]] = {
    **_windows("hamming_window bartlett_window kaiser_window", 7),
    **_windows("bartlett_window.periodic blackman_window.periodic", 8, False),
    **_windows("hamming_window.periodic kaiser_window.periodic", 7, True),
    **_windows("hamming_window.periodic_alpha", 7, False, 0.5),
    **_windows("hamming_window.periodic_alpha_beta", 1, True, 0.5, 0.4),
    **_windows("kaiser_window.beta", 7, True, 9.0),
    "aten::combinations": [
        Call((X, 2)),
        Call((X, 3)),
        Call((X, 3, True)),
        Call((X, 5)),
        Call((X, 2, True), open_dims=(0,)),
    ],
    "aten::histc": [
        Call((EDGES, 7, -0.3, 1.1)),
        Call((X, 4)),
        Call((X[:1], 3)),
    ],
    "aten::_unique2": [Call((torch.tensor([3, 1, 3, 2], dtype=torch.uint8), True, True, True))],
    "aten::unique_dim": [
        Call((torch.tensor([[3, 1], [2, 2], [3, 1]], dtype=torch.int32), 0, True, True, True))
    ],
    "aten::vander": [Call((X,)), Call((X, 3)), Call((X, 6, True))],
}
