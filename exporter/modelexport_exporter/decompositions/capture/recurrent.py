"""LSTM layers with a projection (`proj_size`), which ONNX's LSTM does not have, as loops of cells.

Each direction of each layer becomes one Scan over the sequence, whatever its length.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from modelexport_exporter.decompositions.capture.registry import Replacements, Result
from modelexport_exporter.torch_internals.operators import scan

CALLS = Replacements()


@CALLS.replaces("lstm", torch.lstm)
def lstm(x: Tensor, hx: Any, *arguments: Any) -> Result:  # noqa: ANN401
    if not _is_projected(hx):
        return NotImplemented
    weights, biases, layers, dropout, train, bidirectional, batch_first = arguments
    if train and dropout:
        return NotImplemented
    directions = 2 if bidirectional else 1
    each = 5 if biases else 3
    steps = x.transpose(0, 1) if batch_first else x
    hidden, cells = [], []
    for layer in range(layers):
        outputs = []
        for k in range(layer * directions, (layer + 1) * directions):
            params = weights[k * each : (k + 1) * each]
            last, (h, c) = _direction(
                steps, hx[0][k], hx[1][k], params, reverse=k % directions == 1
            )
            outputs.append(last)
            hidden.append(h)
            cells.append(c)
        steps = torch.cat(outputs, -1)
    output = steps.transpose(0, 1) if batch_first else steps
    return output, torch.stack(hidden), torch.stack(cells)


def _is_projected(hx: Any) -> bool:  # noqa: ANN401
    """Return whether the hidden state is smaller than the cell; packed sequences have no pair."""
    return isinstance(hx, tuple | list) and len(hx) == 2 and hx[0].shape[-1] != hx[1].shape[-1]


def _direction(
    steps: Tensor, h: Tensor, c: Tensor, params: list[Tensor], *, reverse: bool
) -> tuple[Tensor, list[Tensor]]:
    """Return one direction of one layer: its outputs, and its last hidden state and cell."""
    weight_ih, weight_hh, *biases, weight_hr = params
    bias = biases[0] + biases[1] if biases else None

    def step(state: list[Tensor], gates: Tensor) -> tuple[list[Tensor], Tensor]:
        h, c = state
        i, f, g, o = (gates + F.linear(h, weight_hh)).chunk(4, -1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        h = F.linear(torch.sigmoid(o) * torch.tanh(c), weight_hr)
        return [h, c], h.clone()

    gates = F.linear(steps, weight_ih, bias)
    # A scan refuses states and weights that share memory.
    weight_hh, weight_hr = weight_hh.clone(), weight_hr.clone()
    state, outputs = scan(step, [h.clone(), c.clone()], gates, dim=0, reverse=reverse)
    return outputs, state
