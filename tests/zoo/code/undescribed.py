"""Modules as users write them, whose inputs nobody describes."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class LeNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5, padding=2)
        self.conv2 = nn.Conv2d(6, 16, 5)
        self.fc1 = nn.Linear(400, 120)
        self.fc2 = nn.Linear(120, 10)

    def forward(self, x):
        x = nn.functional.max_pool2d(self.conv1(x).relu(), 2)
        x = nn.functional.max_pool2d(self.conv2(x).relu(), 2)
        return self.fc2(self.fc1(x.view(-1, 16 * 5 * 5)).relu())


class Tokens(nn.Module):
    """A text classifier with positions up to 128, and a padding mask."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens = nn.Embedding(1000, 32)
        self.positions = nn.Embedding(128, 32)
        layer = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(32, 5)

    def forward(self, ids, padding_mask):
        x = self.tokens(ids) + self.positions(torch.arange(ids.shape[1]))
        return self.head(self.encoder(x, src_key_padding_mask=padding_mask).mean(1))


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.rnn = nn.LSTM(10, 20, 2, batch_first=True)
        self.head = nn.Linear(20, 3)

    def forward(self, x):
        y, _ = self.rnn(x)
        return self.head(y[:, -1])


class Factors(nn.Module):
    """A recommender: two tables of different sizes."""

    def __init__(self) -> None:
        super().__init__()
        self.users = nn.Embedding(50, 8)
        self.items = nn.Embedding(70, 8)

    def forward(self, user, item):
        return (self.users(user) * self.items(item)).sum(-1).sigmoid()


class UNet(nn.Module):
    """Pictures whose sides are multiples of four."""

    def __init__(self) -> None:
        super().__init__()
        self.down1 = nn.Conv2d(3, 8, 3, padding=1)
        self.down2 = nn.Conv2d(8, 16, 3, padding=1)
        self.down3 = nn.Conv2d(16, 32, 3, padding=1)
        self.up1 = nn.ConvTranspose2d(32, 16, 2, 2)
        self.up2 = nn.ConvTranspose2d(16, 8, 2, 2)
        self.merge1 = nn.Conv2d(32, 16, 3, padding=1)
        self.merge2 = nn.Conv2d(16, 2, 3, padding=1)

    def forward(self, image):
        a = self.down1(image).relu()
        b = self.down2(nn.functional.max_pool2d(a, 2)).relu()
        c = self.down3(nn.functional.max_pool2d(b, 2)).relu()
        y = self.merge1(torch.cat([self.up1(c), b], 1))
        return self.merge2(torch.cat([self.up2(y), a], 1))


class Patches(nn.Module):
    """A vision transformer: 14 × 14 patches of 16 × 16 pixels and one token more."""

    def __init__(self) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, 64, 16, 16)
        self.token = nn.Parameter(torch.zeros(1, 1, 64))
        self.positions = nn.Parameter(torch.zeros(1, 197, 64))
        self.head = nn.Linear(64, 10)

    def forward(self, img):
        x = self.patches(img).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(len(x), -1, -1), x], 1) + self.positions
        return self.head(x[:, 0])


class Graph(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(16, 8)
        self.head = nn.Linear(8, 2)

    def forward(self, x, edge_index):
        source, target = edge_index
        h = self.inner(x)
        return self.head(torch.zeros_like(h).index_add(0, target, h[source]).relu())


class Table(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embeddings = nn.ModuleList([nn.Embedding(n, 4) for n in (10, 3, 7)])
        self.norm = nn.BatchNorm1d(5)
        self.head = nn.Linear(17, 1)

    def forward(self, x_cat, x_num):
        parts = [one(x_cat[:, place]) for place, one in enumerate(self.embeddings)]
        return self.head(torch.cat([*parts, self.norm(x_num)], 1))


class Waves(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv1d(1, 16, 10, 5)
        self.rnn = nn.GRU(16, 32, batch_first=True)

    def forward(self, wav):
        x = self.conv(wav.unsqueeze(1)).relu().transpose(1, 2)
        return self.rnn(x)[0].mean(1)


class Translator(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.model = nn.Transformer(32, 4, 1, 1, 64, batch_first=True)
        self.source = nn.Embedding(100, 32)
        self.target = nn.Embedding(90, 32)

    def forward(self, src, tgt):
        mask = nn.Transformer.generate_square_subsequent_mask(tgt.shape[1])
        return self.model(self.source(src), self.target(tgt), tgt_mask=mask)


class Asserted(nn.Module):
    """Refuses pictures of another size by an assertion without a message."""

    def __init__(self) -> None:
        super().__init__()
        self.image_size = 48
        self.conv = nn.Conv2d(3, 4, 3)

    def forward(self, x):
        _, _, height, width = x.shape
        assert height == self.image_size
        assert width == self.image_size
        return self.conv(x).flatten(1)


class Scaled(nn.Module):
    """A Python number, and a list of tensors."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, parts: list[Tensor], power: int):
        return self.linear(parts[0] + parts[1]) ** power


class Half(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(6, 2).to(torch.float64)

    def forward(self, x):
        return self.linear(x)


class Never(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(6, 2)

    def forward(self, record):
        return self.linear(record.features)


class ByLanguage(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(10, 4)
        self.adapters = nn.ModuleDict({"de": nn.Linear(4, 4), "en": nn.Linear(4, 4)})

    def forward(self, ids, language):
        return self.adapters[language](self.table(ids))


class Nested(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, batch, scale=1.0, parts=None):
        return self.linear(batch["x"] + batch["y"]) * scale + parts[0]
