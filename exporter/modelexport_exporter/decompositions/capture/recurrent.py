"""Recurrent layers that torch.export or onnxruntime has not, as loops of cells.

These are LSTM layers with a projection (`proj_size`), which ONNX's LSTM does not have, nn.RNN,
which torch.export would unroll at the example's length, and all of them in float64, for which
onnxruntime has no kernel. Each direction of each layer becomes one Scan over the sequence,
whatever its length.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from modelexport_exporter.decompositions.capture.registry import Replacements, Result, is_open
from modelexport_exporter.torch_internals.operators import scan

CALLS = Replacements()

_Direction = Callable[..., tuple[Tensor, list[Tensor]]]
"""From steps, first state, weights and whether there are biases to outputs and last state."""
_Step = Callable[[list[Tensor], Tensor], tuple[list[Tensor], Tensor]]
"""From a state and the products of one step to the next state and the output."""
_Cell = Callable[[list[Tensor], bool], tuple[Tensor | None, _Step]]
"""From all weights but the first, and whether there are biases, to the steps' bias and the step."""


@CALLS.replaces("lstm", torch.lstm)
def lstm(x: Tensor, hx: Any, *arguments: Any) -> Result:  # noqa: ANN401
    if not _is_projected(hx) and not _is_double(x, hx):
        return NotImplemented
    return run_layers(partial(_looped, _lstm_cell), x, hx, *arguments)


@CALLS.replaces("gru", torch.gru)
def gru(x: Tensor, hx: Any, *arguments: Any) -> Result:  # noqa: ANN401
    if not _is_double(x, hx):
        return NotImplemented
    return run_layers(partial(_looped, _gru_cell), x, (hx,), *arguments)


@CALLS.replaces("rnn_tanh", torch.rnn_tanh)
def rnn_tanh(x: Tensor, hx: Tensor, *arguments: Any) -> Result:  # noqa: ANN401
    return _rnn(torch.tanh, x, hx, arguments)


@CALLS.replaces("rnn_relu", torch.rnn_relu)
def rnn_relu(x: Tensor, hx: Tensor, *arguments: Any) -> Result:  # noqa: ANN401
    return _rnn(torch.relu, x, hx, arguments)


def _rnn(
    activation: Callable[[Tensor], Tensor], x: Tensor, hx: Tensor, arguments: tuple[Any, ...]
) -> Result:
    batch_first = arguments[-1]
    if not isinstance(batch_first, bool):
        return NotImplemented
    if not is_open(x.shape[1 if batch_first else 0]) and not _is_double(x, hx):
        return NotImplemented
    cell = partial(_rnn_cell, activation)
    return run_layers(partial(_looped, cell), x, (hx,), *arguments)


def run_layers(
    direction: _Direction,
    x: Tensor,
    first: Sequence[Tensor],
    weights: list[Tensor],
    biases: bool,
    layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
) -> Result:
    """Return the outputs of the last layer, and the last states of all layers."""
    if train and dropout:
        return NotImplemented
    directions = 2 if bidirectional else 1
    each = len(weights) // (layers * directions)
    steps = x.transpose(0, 1) if batch_first else x
    ended = []
    for layer in range(layers):
        outputs = []
        for k in range(layer * directions, (layer + 1) * directions):
            params = weights[k * each : (k + 1) * each]
            output, state = direction(
                steps, [part[k] for part in first], params, biases, reverse=k % directions == 1
            )
            outputs.append(output)
            ended.append(state)
        steps = torch.cat(outputs, -1)
    output = steps.transpose(0, 1) if batch_first else steps
    return output, *(torch.stack(parts) for parts in zip(*ended, strict=True))


def _is_projected(hx: Any) -> bool:  # noqa: ANN401
    """Return whether the hidden state is smaller than the cell; packed sequences have no pair."""
    return isinstance(hx, tuple | list) and len(hx) == 2 and hx[0].shape[-1] != hx[1].shape[-1]


def _is_double(x: Tensor, hx: Any) -> bool:  # noqa: ANN401
    """Return whether a layer is one of float64; packed sequences have lengths for the state."""
    states = hx if isinstance(hx, tuple | list) else (hx,)
    return x.dtype is torch.float64 and all(state.dtype is torch.float64 for state in states)


def _looped(
    cell: _Cell,
    steps: Tensor,
    state: list[Tensor],
    weights: list[Tensor],
    biases: bool,
    *,
    reverse: bool,
) -> tuple[Tensor, list[Tensor]]:
    """Return one direction of one layer: its outputs, and its last states."""
    weight_ih, *own = weights
    # A scan refuses states and weights that share memory.
    bias, step = cell([weight.clone() for weight in own], biases)
    sums, first = F.linear(steps, weight_ih, bias), [part.clone() for part in state]
    state, outputs = scan(step, first, sums, dim=0, reverse=reverse)
    return outputs, state


def _lstm_cell(weights: list[Tensor], biases: bool) -> tuple[Tensor | None, _Step]:
    weight_hh, *added = weights
    weight_hr = added.pop() if len(added) % 2 else None

    def step(state: list[Tensor], gates: Tensor) -> tuple[list[Tensor], Tensor]:
        h, c = state
        i, f, g, o = (gates + F.linear(h, weight_hh)).chunk(4, -1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        h = torch.sigmoid(o) * torch.tanh(c)
        h = h if weight_hr is None else F.linear(h, weight_hr)
        return [h, c], h.clone()

    return added[0] + added[1] if biases else None, step


def _gru_cell(weights: list[Tensor], biases: bool) -> tuple[Tensor | None, _Step]:
    weight_hh, *added = weights
    of_steps, of_state = added if biases else (None, None)

    def step(state: list[Tensor], sums: Tensor) -> tuple[list[Tensor], Tensor]:
        [h] = state
        r, z, n = sums.chunk(3, -1)
        of_r, of_z, of_n = F.linear(h, weight_hh, of_state).chunk(3, -1)
        new = torch.tanh(n + torch.sigmoid(r + of_r) * of_n)
        h = (h - new) * torch.sigmoid(z + of_z) + new
        return [h], h.clone()

    return of_steps, step


def _rnn_cell(
    activation: Callable[[Tensor], Tensor], weights: list[Tensor], biases: bool
) -> tuple[Tensor | None, _Step]:
    weight_hh, *added = weights

    def step(state: list[Tensor], sums: Tensor) -> tuple[list[Tensor], Tensor]:
        h = activation(sums + F.linear(state[0], weight_hh))
        return [h], h.clone()

    return added[0] + added[1] if biases else None, step
