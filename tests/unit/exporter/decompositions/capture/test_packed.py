"""Layers on packed sequences as they are captured, against eager PyTorch."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from modelexport_exporter.decompositions import capturing_calls

X = torch.randn(4, 7, 5, generator=torch.Generator().manual_seed(1))
UNSORTED, SORTED = torch.tensor([3, 6, 1, 6]), torch.tensor([7, 7, 2, 1])
LAYERS: dict[str, nn.RNNBase] = {
    "lstm": nn.LSTM(5, 6, batch_first=True),
    "lstm both ways": nn.LSTM(5, 6, num_layers=2, bidirectional=True, batch_first=True),
    "lstm without bias": nn.LSTM(5, 6, bias=False, batch_first=True),
    "lstm with projection": nn.LSTM(5, 6, proj_size=2, bidirectional=True, batch_first=True),
    "gru both ways": nn.GRU(5, 6, num_layers=2, bidirectional=True, batch_first=True),
    "rnn": nn.RNN(5, 6, num_layers=2, batch_first=True),
    "rnn of relu": nn.RNN(5, 6, nonlinearity="relu", bias=False, batch_first=True),
}


def run(layer: nn.Module, x: Tensor, lengths: Tensor, hx: Any = None, **options: Any) -> list[Any]:  # noqa: ANN401
    first = options.pop("batch_first", True)
    packed = pack_padded_sequence(x, lengths, first, options.pop("enforce_sorted", False))
    with torch.no_grad():
        result, state = layer(packed, hx)
    return [*pad_packed_sequence(result, first, **options), state]


def assert_as_eager(*args: Any, **options: Any) -> None:  # noqa: ANN401
    want = run(*args, **options)
    with capturing_calls(()):
        found = run(*args, **options)
    torch.testing.assert_close(found, want, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("layer", LAYERS.values(), ids=LAYERS)
@pytest.mark.parametrize(
    "options",
    [{}, {"padding_value": -1.0}, {"total_length": 7}, {"total_length": 9, "padding_value": 2.0}],
)
def test_layers(layer: nn.Module, options: dict[str, Any]) -> None:
    assert_as_eager(layer, X, UNSORTED, **options)


def test_the_first_state_is_sorted_like_the_sequences() -> None:
    states = torch.randn(2, 4, 4, 6, generator=torch.Generator().manual_seed(2))
    assert_as_eager(LAYERS["lstm both ways"], X, UNSORTED, (states[0], states[1]))
    assert_as_eager(LAYERS["gru both ways"], X, UNSORTED, states[0])


def test_sorted_sequences_and_steps_first() -> None:
    assert_as_eager(LAYERS["lstm"], X, SORTED, enforce_sorted=True)
    layer = nn.GRU(5, 6, bidirectional=True)
    assert_as_eager(layer, X.transpose(0, 1), UNSORTED, batch_first=False)


def test_what_follows_a_sequences_end_is_of_no_account() -> None:
    x = X.clone()
    x[2, 1:] = float("nan")
    assert_as_eager(LAYERS["lstm both ways"], x, UNSORTED)


def test_padded_input_is_left_to_torch() -> None:
    layer = LAYERS["lstm both ways"]
    with torch.no_grad():
        want = layer(X)
        with capturing_calls(()):
            found = layer(X)
    torch.testing.assert_close(found, want)
