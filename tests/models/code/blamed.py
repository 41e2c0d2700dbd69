"""Small networks of the usual kinds, for damaging their files: one kind a class."""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn


class ConvNet(nn.Module):
    """Convolutions with batch normalization, which optimizers fold into them."""

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 8, 3, padding=1),
            nn.BatchNorm2d(8),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(8, 16, 3, padding=1, bias=False),
            nn.BatchNorm2d(16),
            nn.ReLU(),
        )
        self.head = nn.Linear(16, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Classify images [batch, 3, 8, 8]."""
        features = self.features(x)
        pooled = features.mean(dim=(2, 3))
        return self.head(pooled)  # type: ignore[no-any-return]


class Block(nn.Module):
    """Two convolutions around which the input goes past."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return an image like x."""
        y = F.relu(self.bn1(self.conv1(x)))
        y = self.bn2(self.conv2(y))
        return F.relu(x + y)


class Residual(nn.Module):
    """Blocks with skip connections."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, padding=1)
        self.blocks = nn.ModuleList(Block(8) for _ in range(3))
        self.head = nn.Linear(8, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Classify images [batch, 3, 8, 8]."""
        x = self.stem(x)
        for block in self.blocks:
            x = block(x)
        return self.head(x.mean((2, 3)))  # type: ignore[no-any-return]


class Attention(nn.Module):
    """Attention by scaled_dot_product_attention, and a gated network behind it."""

    def __init__(self) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(16)
        self.qkv = nn.Linear(16, 48)
        self.out = nn.Linear(16, 16)
        self.norm2 = nn.LayerNorm(16)
        self.up = nn.Linear(16, 32)
        self.down = nn.Linear(32, 16)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return hidden states like x, [batch, seq, 16]."""
        batch, seq, width = x.shape
        qkv = self.qkv(self.norm1(x)).view(batch, seq, 3, 4, width // 4)
        q, k, v = (part.transpose(1, 2) for part in qkv.unbind(2))
        seen = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(seen.transpose(1, 2).reshape(batch, seq, width))
        return x + self.down(F.gelu(self.up(self.norm2(x))))  # type: ignore[no-any-return]


class Decoder(nn.Module):
    """Two layers of attention over tokens."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(40, 16)
        self.layers = nn.ModuleList(Attention() for _ in range(2))
        self.norm = nn.LayerNorm(16)
        self.head = nn.Linear(16, 40)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Return logits for tokens [batch, seq]."""
        x = self.embed(tokens)
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x))  # type: ignore[no-any-return]


class Encoder(nn.Module):
    """PyTorch's own encoder layers."""

    def __init__(self) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(16, 4, 32, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(16, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Classify sequences [batch, seq, 16]."""
        return self.head(self.encoder(x).mean(1))  # type: ignore[no-any-return]


class Tagger(nn.Module):
    """A recurrent network in both directions over tokens."""

    def __init__(self, kind: str = "LSTM") -> None:
        super().__init__()
        self.embed = nn.Embedding(40, 12)
        self.recurrent = getattr(nn, kind)(12, 10, batch_first=True, bidirectional=True)
        self.head = nn.Linear(20, 7)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Return the scores of tags for tokens [batch, seq]."""
        hidden, _ = self.recurrent(self.embed(tokens))
        return torch.log_softmax(self.head(torch.tanh(hidden)), -1)


class UNet(nn.Module):
    """Down, up again, and past it."""

    def __init__(self) -> None:
        super().__init__()
        self.enter = nn.Conv2d(3, 8, 3, padding=1)
        self.down = nn.Conv2d(8, 16, 3, stride=2, padding=1)
        self.norm = nn.GroupNorm(4, 16)
        self.up = nn.ConvTranspose2d(16, 8, 2, stride=2)
        self.leave = nn.Conv2d(16, 3, 3, padding=1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return images like x, [batch, 3, 8, 8]."""
        first = F.leaky_relu(self.enter(x), 0.1)
        low = F.silu(self.norm(self.down(first)))
        wide = F.interpolate(low, scale_factor=2.0, mode="bilinear", align_corners=False)
        both = torch.cat([first, self.up(low) + wide[:, :8]], dim=1)
        return torch.sigmoid(self.leave(both))


class Gated(nn.Module):
    """Depthwise convolutions and squeeze-and-excitation, as in small image networks."""

    def __init__(self) -> None:
        super().__init__()
        self.expand = nn.Conv2d(3, 12, 1)
        self.bn = nn.BatchNorm2d(12)
        self.depthwise = nn.Conv2d(12, 12, 3, padding=1, groups=12)
        self.squeeze = nn.Conv2d(12, 4, 1)
        self.excite = nn.Conv2d(4, 12, 1)
        self.head = nn.Linear(12, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Classify images [batch, 3, 8, 8]."""
        x = F.hardswish(self.bn(self.expand(x)))
        x = self.depthwise(x)
        gate = self.excite(F.relu(self.squeeze(F.adaptive_avg_pool2d(x, 1))))
        x = F.relu6(x * F.hardsigmoid(gate))
        x = F.avg_pool2d(x, 3, stride=2, padding=1)
        return self.head(torch.flatten(F.adaptive_avg_pool2d(x, 1), 1))  # type: ignore[no-any-return]


class Mixture(nn.Module):
    """Arithmetic, comparisons and reductions in two branches."""

    def __init__(self) -> None:
        super().__init__()
        self.left = nn.Linear(8, 8)
        self.right = nn.Linear(8, 8)
        self.scale = nn.Parameter(torch.linspace(0.5, 1.5, 8))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return rows like x, [batch, 8]."""
        left = torch.exp(-self.left(x).abs())
        right = torch.softmax(self.right(x), dim=-1)
        ratio = (left - right) / (left + right + 0.1)
        chosen = torch.where(x > 0, ratio * self.scale, torch.sin(ratio))
        centred = chosen - chosen.mean(-1, keepdim=True)
        return centred / (centred.pow(2).mean(-1, keepdim=True) + 1e-3).sqrt()


class Loop(nn.Module):
    """A loop over values, which only a script keeps, between two layers."""

    def __init__(self) -> None:
        super().__init__()
        self.enter = nn.Linear(8, 8)
        self.leave = nn.Linear(8, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Halve rows [batch, 8] until they are small."""
        x = self.enter(x)
        while bool(x.abs().max() > 0.1):
            x = torch.tanh(x) * 0.5
        return self.leave(x)  # type: ignore[no-any-return]
