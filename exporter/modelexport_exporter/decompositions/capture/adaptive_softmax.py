"""nn.AdaptiveLogSoftmaxWithLoss, which asks in Python which clusters the values are in.

The same numbers without branches: of each row, from the log-probabilities of all classes.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor, nn

from modelexport_exporter.torch_internals.nn_functions import AdaptiveSoftmaxResult


def _forward(layer: Any, x: Tensor, target: Tensor) -> Any:  # noqa: ANN401
    rows, places = (x, target) if target.dim() else (x.unsqueeze(0), target.unsqueeze(0))
    output = layer.log_prob(rows).gather(1, places.unsqueeze(1)).squeeze(1)
    loss = (-output).mean()
    return AdaptiveSoftmaxResult(output if target.dim() else output.squeeze(0), loss)


def _predict(layer: Any, x: Tensor) -> Tensor:  # noqa: ANN401
    first = torch.argmax(layer.head(x), dim=1)
    among_all = torch.argmax(layer.log_prob(x), dim=1)
    return torch.where(first >= layer.shortlist_size, among_all, first)


@contextmanager
def adaptive_softmax() -> Iterator[None]:
    """Let the layer compute without branches, while the block runs."""
    kind = nn.AdaptiveLogSoftmaxWithLoss
    with patch.object(kind, "forward", _forward), patch.object(kind, "predict", _predict):
        yield
