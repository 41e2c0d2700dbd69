"""Recurrent layers on packed sequences, whose number of steps torch.export cannot capture.

While torch.export captures, the data of a packed sequence are the padded steps, and its batch sizes
say which of them exist. Each direction of each layer is one call of the kernel for padded steps:

- forwards, a step depends on earlier ones only, so that what follows a sequence's end is of no
  account, and the last state is the output at its end;
- backwards, each sequence is reversed up to its own length before and after.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any
from unittest.mock import patch

import torch
import torch.nn.functional as F  # noqa: N812
from torch import SymInt, Tensor, nn
from torch.fx.experimental.symbolic_shapes import statically_known_true
from torch.nn.utils.rnn import PackedSequence

from modelexport_exporter.decompositions.capture.recurrent import run_layers
from modelexport_exporter.decompositions.capture.registry import Replacements, Result
from modelexport_exporter.torch_internals.nn_functions import (
    pack_padded_sequence,
    pad_packed_sequence,
)
from modelexport_exporter.torch_internals.operators import scan
from modelexport_exporter.torch_internals.symbolic_sizes import check

CALLS = Replacements()

State = tuple[Tensor, ...]
"""Of all directions of all layers, [count, batch, features] each: hidden state, cell of an LSTM."""


@CALLS.replaces("_pack_padded_sequence", pack_padded_sequence)
def pack(padded: Tensor, lengths: Tensor, batch_first: bool) -> Result:
    """Return all steps, [time, batch, *], and how many sequences have a step, [longest]."""
    steps = padded.transpose(0, 1) if batch_first else padded
    longest = lengths.max().item()
    check(longest >= 1)
    check(longest <= steps.shape[0])
    places = torch.arange(longest, device=lengths.device)
    return steps, (lengths > places[:, None]).sum(1)


@CALLS.replaces("_pad_packed_sequence", pad_packed_sequence)
def pad(
    steps: Tensor,
    batch_sizes: Tensor,
    batch_first: bool,
    padding: float,
    total: int,
) -> Result:
    """Return the steps of each sequence, `total` of them, and the lengths, [batch]."""
    lengths = _lengths(batch_sizes, steps.shape[1])
    known = steps.shape[0]
    exists = _places(steps) < lengths.to(steps.device)
    padded = torch.where(exists.reshape(*exists.shape, *[1] * (steps.dim() - 2)), steps, padding)
    if statically_known_true(total <= known):
        padded = padded.narrow(0, 0, total)
    else:
        padded = F.pad(padded, [0, 0] * (steps.dim() - 1) + [0, total - known], value=padding)
    return padded.transpose(0, 1) if batch_first else padded, lengths


@contextmanager
def packed_layers() -> Iterator[None]:
    """Let recurrent layers take what `pack` returns, while the block runs."""
    with ExitStack() as stack:
        for layer in (nn.LSTM, nn.GRU, nn.RNN):
            stack.enter_context(patch.object(layer, "forward", _forward(layer.forward)))
        yield


def _forward(own: Callable[..., Any]) -> Callable[..., Any]:
    def forward(self: nn.RNNBase, input: Any, hx: Any = None) -> Any:  # noqa: A002, ANN401
        drops = self.training and self.dropout
        if not isinstance(input, PackedSequence) or input.data.dim() != 3 or drops:
            return own(self, input, hx)
        return _run(self, input, hx)

    return forward


def _run(layer: nn.RNNBase, packed: PackedSequence, hx: Any) -> tuple[PackedSequence, Any]:  # noqa: ANN401
    """Return the packed outputs and the last state, as nn.LSTM, nn.GRU and nn.RNN do."""
    steps, batch_sizes, order, order_before = packed
    lengths = _lengths(batch_sizes, steps.shape[1]).to(steps.device)
    output, *states = run_layers(
        partial(_direction, layer, lengths),
        steps,
        _first_state(layer, steps, hx, order),
        [weight for weights in layer.all_weights for weight in weights],
        layer.bias,
        layer.num_layers,
        0.0,
        False,
        layer.bidirectional,
        False,
    )
    if order_before is not None:
        states = [state.index_select(1, order_before) for state in states]
    result = PackedSequence(output, batch_sizes, order, order_before)
    return result, tuple(states) if isinstance(layer, nn.LSTM) else states[0]


def _first_state(
    layer: nn.RNNBase,
    steps: Tensor,
    hx: Any,  # noqa: ANN401
    order: Tensor | None,
) -> State:
    """Return the state before the first step, [layers * directions, batch, features] each."""
    if hx is None:
        hidden = layer.proj_size or layer.hidden_size
        sizes = (hidden, layer.hidden_size) if isinstance(layer, nn.LSTM) else (hidden,)
        count = layer.num_layers * (2 if layer.bidirectional else 1)
        return tuple(steps.new_zeros(count, steps.shape[1], size) for size in sizes)
    given = tuple(hx) if isinstance(layer, nn.LSTM) else (hx,)
    return given if order is None else tuple(part.index_select(1, order) for part in given)


def _direction(
    layer: nn.RNNBase,
    lengths: Tensor,
    steps: Tensor,
    state: list[Tensor],
    weights: list[Tensor],
    biases: bool,
    *,
    reverse: bool,
) -> tuple[Tensor, list[Tensor]]:
    """Return the outputs of one direction, [time, batch, features], and its last state."""
    steps = _reversed(steps, lengths) if reverse else steps
    first = tuple(part[None] for part in state)
    given = first if isinstance(layer, nn.LSTM) else first[0]
    outputs = _kernel(layer)(steps, given, weights, biases, 1, 0.0, False, False, False)[0]
    hidden = outputs.gather(0, (lengths - 1)[:, None].expand(*outputs.shape[1:])[None]).squeeze(0)
    result = _reversed(outputs, lengths) if reverse else outputs
    if not isinstance(layer, nn.LSTM):
        return result, [hidden]
    return result, [hidden, _last_cell(steps, outputs, lengths, state, weights)]


def _kernel(layer: nn.RNNBase) -> Callable[..., Any]:
    kernels: dict[str, Callable[..., Any]] = {
        "LSTM": torch.lstm,
        "GRU": torch.gru,
        "RNN_TANH": torch.rnn_tanh,
        "RNN_RELU": torch.rnn_relu,
    }
    return kernels[layer.mode]


def _last_cell(
    steps: Tensor, outputs: Tensor, lengths: Tensor, state: list[Tensor], weights: Sequence[Tensor]
) -> Tensor:
    """Return the cells at the ends, [batch, features]: the kernel returns those of the padding.

    The hidden states before each step are known, so that only the cells are a loop, which is
    removed from the file where the cells are not used.
    """
    weight_ih, weight_hh, *rest = weights
    bias = rest[0] + rest[1] if len(rest) > 1 else None
    before = torch.cat([state[0][None], outputs])[:-1]
    gates = F.linear(steps, weight_ih, bias) + F.linear(before, weight_hh)
    i, f, g, _ = gates.chunk(4, -1)
    exists = (_places(steps) < lengths)[..., None]
    kept = torch.where(exists, torch.sigmoid(f), 1)
    added = torch.where(exists, torch.sigmoid(i) * torch.tanh(g), 0)

    def step(cell: Tensor, both: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        cell = both[0] * cell + both[1]
        return cell, cell.clone()

    cell: Tensor = scan(step, state[1].clone(), (kept, added), dim=0)[0]
    return cell


def _lengths(batch_sizes: Tensor, batch: int | SymInt) -> Tensor:
    """Return the steps of each sequence, [batch]: sequences are sorted, the longest first."""
    places = torch.arange(batch, device=batch_sizes.device)
    return (batch_sizes[:, None] > places).sum(0)


def _places(steps: Tensor) -> Tensor:
    return torch.arange(steps.shape[0], device=steps.device)[:, None]


def _reversed(steps: Tensor, lengths: Tensor) -> Tensor:
    """Return each sequence from its end to its begin; the padding stays behind it."""
    places = _places(steps)
    index = torch.where(places < lengths, lengths - 1 - places, places)
    return steps.gather(0, index[..., None].expand(steps.shape))
