"""Quantised operators."""

import torch
from torch import Tensor, nn


class RoundTrip(nn.Module):
    """Quantised and back, a tensor and a channel at a time."""

    def forward(self, x: Tensor):
        one = torch.quantize_per_tensor(x, 0.1, 10, torch.quint8)
        other = torch.quantize_per_tensor(x, 0.05, 0, torch.qint8)
        return one.dequantize(), torch.dequantize(other)


class RoundTripOfChannels(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        scales, zeros = torch.tensor([0.1, 0.2, 0.05, 0.3]), torch.tensor([0, 1, 2, 3])
        return torch.quantize_per_channel(x, scales, zeros, 1, torch.qint8).dequantize()


class FakeQuantized(nn.Module):
    def forward(self, x: Tensor):
        scales, zeros = torch.tensor([0.1, 0.2, 0.05, 0.3]), torch.zeros(4, dtype=torch.int32)
        return (
            torch.fake_quantize_per_tensor_affine(x, 0.1, 3, 0, 255),
            torch.fake_quantize_per_tensor_affine(x, 0.05, 0, -128, 127),
            torch.fake_quantize_per_channel_affine(x, scales, zeros, 1, -128, 127),
        )


class DynamicallyQuantized(nn.Module):
    """What quantize_dynamic makes of a linear layer."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(3)
        made = torch.ao.quantization.quantize_dynamic(nn.Sequential(nn.Linear(4, 3)), {nn.Linear})
        self.net = made

    def forward(self, x: Tensor) -> Tensor:
        result: Tensor = self.net(x)
        return result


class QuantizedArithmetic(nn.Module):
    """quantized::add and quantized::mul by FloatFunctional's quantised successor."""

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        a = torch.quantize_per_tensor(x, 0.1, 10, torch.quint8)
        b = torch.quantize_per_tensor(y, 0.1, 10, torch.quint8)
        result: Tensor = torch.ops.quantized.add(a, b, 0.2, 5).dequantize()
        return result


class Unconvertible(nn.Module):
    """Two operators that nobody converts, in a submodule each."""

    def __init__(self) -> None:
        super().__init__()
        self.first = Bessel()
        self.second = Zeta()

    def forward(self, x: Tensor) -> Tensor:
        result: Tensor = self.first(x) + self.second(x)
        return result


class Bessel(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.special.bessel_j0(x)


class Zeta(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.special.zeta(x.abs() + 1.5, torch.ones_like(x))


class Eigenvalues(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.linalg.eigvalsh(x @ x.transpose(-1, -2))


class FixedPoint(nn.Module):
    """A layer in numbers of 16 bits with 8 behind the point, saturated, cut into bytes, divided."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("weight", torch.randint(-300, 300, (5, 4), dtype=torch.int32))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        q = torch.trunc(x * 256).clamp(-32768, 32767).to(torch.int16)
        total = (q.to(torch.int32)[:, None] * self.weight).sum(-1, dtype=torch.int32)
        y = torch.clamp((total + 128) >> 8, -32768, 32767).to(torch.int16)
        high, low = (y >> 8).to(torch.int8), (y & 255).to(torch.uint8)
        return y, high, low, y // 7, y % 7, y << 2, low >> 3


class DividesByBranch(nn.Module):
    """Quotients rounded down, of the smallest integers, too, on both sides of a branch."""

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        if x.sum() > 0:
            return x // 7, y // -5
        return x // 9, y // 3
