"""Dynamic programs as users write them: loops over sizes, with helpers that take numbers."""

from __future__ import annotations

import torch
from torch import Tensor, nn


def log_sum_exp(scores, tags):
    _, place = torch.max(scores, 1)
    high = torch.gather(scores, 1, place.view(-1, 1, tags)).view(-1, 1, tags)
    return high.view(-1, tags) + torch.log(torch.sum(torch.exp(scores - high), 1)).view(-1, tags)


class LinearChain(nn.Module):
    """The partition function and the best path of a CRF."""

    def __init__(self) -> None:
        super().__init__()
        self.moves = nn.Parameter(torch.randn(4, 4))

    def total(self, scores, kept, *, scale=1.0, **_):
        rows, steps, tags = scores.size()
        part = scores[:, 0] * scale
        for step in range(1, steps):
            each = scores[:, step].unsqueeze(1) * scale + self.moves + part.unsqueeze(2)
            part = torch.where(kept[:, step].view(rows, 1), log_sum_exp(each, tags), part)
        return torch.logsumexp(part, 1)

    def best(self, scores, kept):
        rows, steps, tags = scores.size()
        part, pointers = scores[:, 0], []
        for step in range(1, steps):
            part, before = torch.max(scores[:, step].unsqueeze(1) + self.moves + part[..., None], 1)
            pointers.append(before.masked_fill(~kept[:, step].view(rows, 1), 0))
        path = torch.zeros(steps, rows, dtype=torch.long)
        path[-1] = part.argmax(1)
        for step in range(len(pointers) - 1, -1, -1):
            path[step] = torch.gather(pointers[step], 1, path[step + 1].view(rows, 1)).view(-1)
        return path.transpose(0, 1)

    def forward(self, scores: Tensor, kept: Tensor) -> tuple[Tensor, Tensor]:
        return self.total(scores, kept, scale=0.5), self.best(scores, kept)


class EditDistance(nn.Module):
    """Rows of a table that are kept in a list, and rows that are written in part."""

    def table(self, guess, text, price):
        rows, steps = guess.shape
        column = torch.arange(text.shape[1] + 1)
        row = column.unsqueeze(0).expand(rows, -1).contiguous()
        table = [row]
        for step in range(steps):
            costs = (text != guess[:, step : step + 1]).long() * price
            moved = torch.minimum(row[:, 1:] + 1, row[:, :-1] + costs)
            row = torch.cat([row[:, :1] + 1, moved], dim=1)
            row = torch.cummin(row - column, dim=1).values + column
            table.append(row)
        return torch.stack(table, dim=1)

    def longest_common(self, guess, text):
        rows, steps = guess.shape
        row = torch.zeros(rows, text.shape[1] + 1, dtype=torch.int64)
        for step in range(steps):
            longer = row.clone()
            longer[:, 1:] = torch.where(text == guess[:, step, None], row[:, :-1] + 1, row[:, 1:])
            row = longer.cummax(dim=1)[0]
        return row[:, -1]

    def forward(self, guess: Tensor, text: Tensor) -> tuple[Tensor, Tensor]:
        return self.table(guess, text, 1)[:, -1], self.longest_common(guess, text)


class Viterbi(nn.Module):
    """The best tags of a sentence: pointers from the last word back to the first."""

    def __init__(self):
        super().__init__()
        self.steps = nn.Parameter(torch.randn(4, 4))
        self.first = nn.Parameter(torch.randn(4))

    def forward(self, scores):
        best = self.first + scores[:, 0]
        pointers = []
        for i in range(1, scores.shape[1]):
            best, found = (best.unsqueeze(2) + self.steps + scores[:, i].unsqueeze(1)).max(1)
            pointers.append(found)
        tags = [best.argmax(1)]
        for found in reversed(pointers):
            tags.append(found.gather(1, tags[-1].unsqueeze(1)).squeeze(1))
        tags.reverse()
        return torch.stack(tags, 1), best.amax(1)
