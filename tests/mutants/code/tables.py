"""Networks on rows, graphs and series, as people write them."""

import torch
from torch import Tensor, nn

F = nn.functional


class Heads(nn.Module):
    """Classes: the first of the best grade, the likeliest' probabilities, the three next."""

    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Linear(6, 16), nn.Mish(), nn.Linear(16, 9))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        scores = torch.log_softmax(self.net(x), -1)
        values, places = scores.topk(4, -1)
        return scores.round().argmax(-1), values.exp(), places[:, 1:]


class Ranker(nn.Module):
    """Documents of a query by score, and the gain that each place is worth."""

    def __init__(self) -> None:
        super().__init__()
        self.score = nn.Bilinear(4, 4, 1)

    def forward(self, query: Tensor, documents: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        wide = query[:, None].expand(-1, documents.shape[1], -1).contiguous()
        scores = self.score(wide, documents).squeeze(-1)
        ordered, order = torch.sort(scores, dim=1, descending=True)
        best = documents.gather(1, order[:, :2, None].expand(-1, -1, 4))
        gain = torch.cumsum(torch.sigmoid(ordered), 1)
        return order, gain, best


class Graph(nn.Module):
    """Messages along edges, mean by target, two rounds."""

    def __init__(self) -> None:
        super().__init__()
        self.message = nn.Linear(8, 5)
        self.update = nn.Linear(9, 4)

    def forward(self, nodes: Tensor, source: Tensor, target: Tensor) -> Tensor:
        for _ in range(2):
            pair = torch.cat([nodes.index_select(0, source), nodes[target]], 1)
            sent = F.leaky_relu(self.message(pair), 0.2)
            index = target[:, None].expand_as(sent)
            total = sent.new_zeros(nodes.shape[0], 5).scatter_add(0, index, sent)
            count = sent.new_zeros(nodes.shape[0], 1).scatter_add(
                0, target[:, None], sent.new_ones(target.shape[0], 1)
            )
            nodes = torch.tanh(self.update(torch.cat([nodes, total / count.clamp(min=1)], 1)))
        return nodes


class Tabular(nn.Module):
    """Integers as codes, ages in bins, one-hot days, numbers scaled."""

    def __init__(self) -> None:
        super().__init__()
        self.shop = nn.Embedding(200, 4)
        self.net = nn.Sequential(nn.Linear(4 + 7 + 3 + 2, 12), nn.ReLU6(), nn.Linear(12, 2))
        self.register_buffer("mean", torch.tensor([40.0, 3.0]))
        self.register_buffer("scale", torch.tensor([12.5, 0.7]))

    def forward(self, shop: Tensor, day: Tensor, age: Tensor, numbers: Tensor) -> Tensor:
        bins = torch.stack([age < 18, (age >= 18) & (age < 65), age >= 65], 1).float()
        scaled = (numbers - self.mean) / self.scale
        parts = [self.shop(shop), F.one_hot(day, 7).float(), bins, scaled]
        return self.net(torch.cat(parts, 1))


class Missing(nn.Module):
    """What is missing shows as NaN: logarithms of negative amounts, shares of nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Linear(10, 3)
        self.register_buffer("usual", torch.tensor([0.3, -0.2, 0.1, 0.5, 0.0]))

    def forward(self, amounts: Tensor) -> tuple[Tensor, Tensor]:
        logs = torch.log(amounts)
        known = ~torch.isnan(logs)
        filled = torch.where(known & ~torch.isinf(logs), logs, self.usual)
        share = amounts / amounts.abs().round().sum(1, keepdim=True)
        share = torch.nan_to_num(share, nan=-1.0, posinf=5.0, neginf=-5.0)
        most = torch.fmax(logs[:, 0], logs[:, 1])
        return self.net(torch.cat([filled, share.clamp(-5, 5)], 1)), torch.maximum(most, logs[:, 2])


class Rolling(nn.Module):
    """Windows of a series: differences, lags, means of the last five, a trend."""

    def __init__(self) -> None:
        super().__init__()
        self.head = nn.Linear(3, 2)
        self.trend = nn.Conv1d(1, 1, 5)

    def forward(self, series: Tensor) -> tuple[Tensor, Tensor]:
        change = series[:, 1:] - series[:, :-1]
        total = F.pad(series.cumsum(1), (1, 0))
        mean = (total[:, 5:] - total[:, :-5]) / 5
        windows = series.unfold(1, 5, 2)
        trend = self.trend(series[:, None])[:, 0]
        features = torch.stack([change[:, 3:], mean, trend], -1)
        return self.head(features[:, -3:]), windows.amax(2) - series[:, 4::2]


class Cumulative(nn.Module):
    """Running sums and products both ways, and places counted."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Linear(4, 4)

    def forward(self, steps: Tensor) -> tuple[Tensor, Tensor]:
        x = torch.tanh(self.weight(steps))
        ahead = x.cumsum(1)
        back = x.flip(1).cumsum(1).flip(1) - x
        decay = torch.exp(-0.1 * torch.arange(x.shape[1], device=x.device))[:, None]
        run = (x > 0).to(torch.int64).cumsum(1)
        return ahead * decay + back.roll(1, 1), run


class Summary(nn.Module):
    """Many outputs of many kinds and shapes."""

    def __init__(self) -> None:
        super().__init__()
        self.mix = nn.Parameter(torch.randn(5, 5) / 2)

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        y = x @ self.mix
        low, high = y.amin(-1), y.amax(-1)
        spread = y.var(-1, unbiased=True)
        norm = y / (y.norm(dim=-1, keepdim=True) + 1e-3)
        return y.mean(-1), spread, low, high, norm.transpose(0, 1), (y > 0).sum(-1), y.tril(-1)


class Orbit(nn.Module):
    """Physics in float64: energies and angles, differences of large numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.masses = nn.Parameter(torch.rand(3, dtype=torch.float64) + 1)
        self.mix = nn.Linear(3, 3, dtype=torch.float64)

    def forward(self, place: Tensor, speed: Tensor) -> tuple[Tensor, Tensor]:
        distance = torch.sqrt(place.pow(2).sum(-1) + 1e-2)
        energy = 0.5 * self.masses * speed.pow(2).sum(-1) - self.masses / distance
        angle = torch.atan2(place[..., 1], place[..., 0]) % (2 * torch.pi)
        return self.mix(energy), torch.cos(angle) * 1000.0 - 999.0


class Half(nn.Module):
    """A perceptron whose weights and sums are float16."""

    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(6, 16), nn.GELU(), nn.LayerNorm(16), nn.Linear(16, 4)
        ).half()

    def forward(self, x: Tensor) -> Tensor:
        return self.net(x)


class Thresholds(nn.Module):
    """A quantiser and rules: rounds, floors, clamps and switches where values cross."""

    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Linear(5, 5)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        steps = torch.round(x * 4) / 4
        level = torch.floor(x.clamp(-3, 6) / 0.5)
        alarm = (x >= 2.5) | (x < -1.0)
        y = self.net(torch.where(alarm, steps * 0.5, steps))
        return F.hardtanh(y, -2, 2), level.to(torch.int32), torch.ceil(x[:, 0]) % 3


class Calendar(nn.Module):
    """Integer arithmetic: days to weeks and phases, before and after the epoch."""

    def forward(self, day: Tensor, period: Tensor) -> tuple[Tensor, ...]:
        week = torch.div(day, 7, rounding_mode="floor")
        toward = torch.div(day, period, rounding_mode="trunc")
        phase = torch.remainder(day, period)
        code = (day * 31 + 7) % 1000
        return week, toward, phase, code, torch.bitwise_and(day, 15)
