"""Recurrent networks."""

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


class Recurrent(nn.Module):
    """One RNN, LSTM or GRU; every state that it returns is an output."""

    def __init__(self, kind: str = "LSTM", **options: object) -> None:
        super().__init__()
        self.net = getattr(nn, kind)(5, 6, **options)

    def forward(self, x: Tensor) -> object:
        return self.net(x)


class WithState(nn.Module):
    """The first state is an input."""

    def __init__(self, kind: str = "GRU", **options: object) -> None:
        super().__init__()
        self.net = getattr(nn, kind)(5, 6, **options)

    def forward(self, x: Tensor, h: Tensor) -> object:
        return self.net(x, h)


class WithStates(nn.Module):
    def __init__(self, **options: object) -> None:
        super().__init__()
        self.net = nn.LSTM(5, 6, **options)

    def forward(self, x: Tensor, h: Tensor, c: Tensor) -> object:
        return self.net(x, (h, c))


class Cells(nn.Module):
    """Cells, unrolled over a constant number of steps."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTMCell(5, 6)
        self.gru = nn.GRUCell(5, 6, bias=False)
        self.rnn = nn.RNNCell(5, 6, nonlinearity="relu")

    def forward(self, x: Tensor):
        h, c = self.lstm(x[0])
        g = self.gru(x[0])
        r = self.rnn(x[0])
        for step in range(1, 3):
            h, c = self.lstm(x[step], (h, c))
            g = self.gru(x[step], g)
            r = self.rnn(x[step], r)
        return h, c, g, r


class CellOverTime(nn.Module):
    """A cell in a loop over a dynamic number of steps."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.GRUCell(5, 6)

    def forward(self, x: Tensor) -> Tensor:
        h = torch.zeros(x.size(1), 6)
        for step in range(x.size(0)):
            h = self.cell(x[step], h)
        return h


class Packed(nn.Module):
    """Sequences of unlike lengths."""

    def __init__(self, net: nn.RNNBase, **padding: float) -> None:
        super().__init__()
        self.net = net
        self.padding = padding

    def forward(self, x: Tensor, lengths: Tensor):
        packed = pack_padded_sequence(x, lengths.cpu(), batch_first=True, enforce_sorted=False)
        answer, state = self.net(packed)
        padded, ended = pad_packed_sequence(answer, batch_first=True, **self.padding)
        return padded, ended, state


class PackedAndDecoded(nn.Module):
    """The state of an encoder of unlike lengths begins a decoder, which sees what was encoded."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Linear(5, 6)
        self.encoder = nn.LSTM(6, 4, num_layers=2, batch_first=True)
        self.decoder = nn.LSTM(5, 4, num_layers=2, batch_first=True)

    def forward(self, x: Tensor, lengths: Tensor):
        lengths, order = lengths.sort(descending=True)
        packed = pack_padded_sequence(self.embed(x[order]), lengths, batch_first=True)
        answer, state = self.encoder(packed)
        memory, _ = pad_packed_sequence(answer, batch_first=True, total_length=x.size(1))
        decoded, _ = self.decoder(x[order], state)
        scores = decoded @ memory.mT
        known = torch.arange(x.size(1)) < lengths[:, None]
        return (scores.masked_fill(~known[:, None], -1e9).softmax(-1) @ memory)[order.argsort()]


def packed_lstm() -> nn.Module:
    return Packed(nn.LSTM(5, 6, batch_first=True))


def packed_both_ways() -> nn.Module:
    return Packed(nn.LSTM(5, 6, num_layers=2, bidirectional=True, batch_first=True))


def packed_gru() -> nn.Module:
    net = nn.GRU(5, 6, num_layers=2, bidirectional=True, batch_first=True)
    return Packed(net, padding_value=-1.0, total_length=20)


def packed_rnn() -> nn.Module:
    return Packed(nn.RNN(5, 6, nonlinearity="relu", bias=False, batch_first=True))


def packed_projected() -> nn.Module:
    return Packed(nn.LSTM(5, 6, proj_size=3, bidirectional=True, batch_first=True))


class Tagger(nn.Module):
    """Words to tags, as in tutorials: embedding, LSTM, linear."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(20, 5)
        self.net = nn.LSTM(5, 6, num_layers=2, bidirectional=True, batch_first=True, dropout=0.3)
        self.head = nn.Linear(12, 4)

    def forward(self, words: Tensor) -> Tensor:
        hidden, _ = self.net(self.words(words))
        return torch.log_softmax(self.head(hidden), -1)
