"""Operators that work element by element: each in several forms, one output a form."""

import torch
from torch import Tensor, nn


class Add(nn.Module):
    """Operator, function, method, in place, scalars on either side, broadcasting."""

    def forward(self, x: Tensor, y: Tensor, column: Tensor, count: Tensor):
        z = x.clone()
        z += y
        return (
            x + y,
            torch.add(x, 2),
            3.5 + y,
            x.add(y).add_(1),
            z,
            x + column,
            column + y[0],
            count + x,
            count + 1,
            x + count.sum(),
        )


class AddScaled(nn.Module):
    """alpha: once "not supported"."""

    def forward(self, x: Tensor, y: Tensor, count: Tensor):
        z = x.clone()
        z.add_(y, alpha=-2)
        return (
            torch.add(x, y, alpha=0.5),
            x.add(y, alpha=3),
            torch.add(x, 2, alpha=4),
            torch.add(count, count, alpha=7),
            torch.add(count, 5, alpha=-3),
            torch.add(x, count, alpha=2),
            z,
            torch.add(y, x, alpha=0),
        )


class Sub(nn.Module):
    def forward(self, x: Tensor, y: Tensor, count: Tensor):
        z = x.clone()
        z -= y
        return (
            x - y,
            torch.sub(x, y, alpha=2.5),
            torch.sub(count, count.flip(0), alpha=3),
            torch.sub(x, 1.5, alpha=2),
            1 - x,
            torch.rsub(x, y, alpha=0.25),
            torch.rsub(x, 4.0, alpha=3),
            torch.subtract(x, y),
            7 - count,
            x.sub_(y, alpha=-1) if x.requires_grad else x.clone().sub_(y, alpha=-1),
            z,
        )


class Mul(nn.Module):
    def forward(self, x: Tensor, y: Tensor, count: Tensor, flag: Tensor):
        z = y.clone()
        z *= x
        return (
            x * y,
            torch.mul(x, 0.1),
            2 * count,
            count * x,
            flag * x,
            flag * flag,
            flag * count,
            torch.multiply(x, x).mul_(y),
            z,
            torch.addcmul(x, y, y, value=0.5),
            x.square(),
        )


class Div(nn.Module):
    """True, floored and truncated division; integers divide to floats."""

    def forward(self, x: Tensor, y: Tensor, count: Tensor):
        divisor = y.abs() + 0.75
        positive = count.abs() + 1
        return (
            x / divisor,
            torch.div(x, 3),
            1 / divisor,
            count / positive,
            count / 4,
            torch.div(x, divisor, rounding_mode="floor"),
            torch.div(x, divisor, rounding_mode="trunc"),
            torch.div(count, positive, rounding_mode="floor"),
            torch.div(count, 3, rounding_mode="trunc"),
            count // 3,
            torch.true_divide(count, 2),
            x / y,
            torch.reciprocal(divisor),
            torch.addcdiv(x, y, divisor, value=-2),
        )


class Remainder(nn.Module):
    def forward(self, x: Tensor, count: Tensor):
        return (
            x % 1.5,
            torch.fmod(x, 1.5),
            count % 3,
            torch.fmod(count, 3),
            torch.remainder(count, -4),
            torch.remainder(x, -2.0),
        )


class Unary(nn.Module):
    """neg, sqrt, exp, abs, tanh and sigmoid as function, method and in place."""

    def forward(self, x: Tensor, count: Tensor):
        return (
            -x,
            torch.neg(count),
            x.clone().neg_(),
            torch.sqrt(x.abs()),
            x.sqrt(),
            torch.exp(x),
            x.clone().exp_(),
            x.abs(),
            torch.abs(count),
            torch.tanh(x),
            x.clone().tanh_(),
            torch.sigmoid(x),
            x.clone().sigmoid_(),
            torch.rsqrt(x.abs() + 0.1),
            torch.expm1(x),
            nn.functional.logsigmoid(x),
        )


class UnaryOfIntegers(nn.Module):
    """Functions that take integers to floats."""

    def forward(self, count: Tensor, flag: Tensor):
        return (
            torch.sqrt(count.abs()),
            torch.exp(count),
            torch.tanh(count),
            torch.sigmoid(count),
            torch.sin(count),
            torch.exp(flag),
            torch.log(count.abs() + 1),
        )


class Trigonometry(nn.Module):
    def forward(self, x: Tensor):
        return torch.sin(x), torch.cos(x), torch.tan(x), x.clone().sin_().cos_()


class InverseTrigonometry(nn.Module):
    """asin and acos are NaN outside [-1, 1], in eager as in the file."""

    def forward(self, x: Tensor, y: Tensor):
        return torch.asin(x), torch.acos(x), torch.atan(x), torch.arcsin(x / 10), torch.atan2(x, y)


class Hyperbolic(nn.Module):
    def forward(self, x: Tensor):
        return (
            torch.sinh(x),
            torch.cosh(x),
            torch.asinh(x),
            torch.acosh(x.abs() + 1),
            torch.atanh(x / 10),
        )


class LogExp(nn.Module):
    """A chain of exp and log."""

    def forward(self, x: Tensor):
        h = x.exp()
        return h.log().log(), torch.log(h + 1), torch.log2(h), torch.log10(h), torch.log1p(h)


class Pow(nn.Module):
    def forward(self, x: Tensor, y: Tensor, count: Tensor):
        positive = x.abs() + 0.1
        return (
            x**2,
            x**3,
            torch.pow(positive, 0.5),
            torch.pow(positive, y),
            2**y,
            torch.pow(3.0, y),
            count**2,
            positive**-1.5,
            count.abs() ** 0.5,
            x.pow(0),
            positive**count,
            x**1.5,
        )


class PowOfIntegers(nn.Module):
    def forward(self, count: Tensor, small: Tensor):
        return torch.pow(count, small), 2**small, count.to(torch.int32) ** 3


class Clamp(nn.Module):
    def forward(self, x: Tensor, y: Tensor, count: Tensor):
        return (
            x.clamp(-1, 1),
            torch.clamp(x, min=0.5),
            torch.clamp(x, max=-0.5),
            x.clamp_min(0.25),
            x.clamp_max(2),
            x.clone().clamp_(-0.5, 0.5),
            torch.clamp(x, y, y + 1),
            torch.clamp(x, min=y),
            count.clamp(-1, 2),
            torch.clip(x, 2, -2),
            nn.functional.hardtanh(x, -0.7, 0.3),
            nn.functional.relu6(x),
        )


class ClampMixed(nn.Module):
    """Bounds of another type than the tensor."""

    def forward(self, x: Tensor, count: Tensor):
        return count.clamp(-0.5, 1.5), torch.clamp(count, min=0.5), x.clamp(min=count)


class Compare(nn.Module):
    def forward(self, x: Tensor, y: Tensor, count: Tensor):
        return (
            x == y,
            x > y,
            x < y,
            x >= y,
            x <= y,
            x != y,
            torch.eq(x, 0.5),
            torch.gt(count, 0),
            count < 0.5,
            torch.ge(x, count),
            torch.le(count, 1),
            x.eq(count),
            torch.logical_and(x > 0, y > 0),
            ~(x > 0),
            torch.isnan(x / y),
            torch.isclose(x, y),
        )


class CompareBooleans(nn.Module):
    def forward(self, flag: Tensor, other: Tensor):
        return flag == other, flag > other, flag <= other, flag ^ other, flag & other, flag | other


class Casting(nn.Module):
    """Scalars and tensors of unlike types meet: torch's promotion must be kept."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("zero_dim", torch.tensor(2.5, dtype=torch.float64))
        self.register_buffer("whole", torch.tensor(3))

    def forward(self, x: Tensor, count: Tensor, flag: Tensor, small: Tensor):
        return (
            count * 1.5,
            count / 2,
            flag + 1,
            flag + 0.5,
            flag + flag,
            x * self.zero_dim,
            count * self.zero_dim,
            x * self.whole,
            count.to(torch.int32) + count,
            small + 300,
            small + small,
            torch.where(flag, x, 0),
            torch.where(count > 0, 1.0, count),
            torch.where(flag, count, x),
            1 - flag.to(torch.float32),
            x + torch.tensor(1, dtype=torch.int64),
            count + torch.tensor(0.5),
            torch.true_divide(flag, 2),
        )


class CastingOfHalves(nn.Module):
    def forward(self, half: Tensor, x: Tensor, double: Tensor):
        return half + 1, half * x, half / 3, x + double, double * 2, half + double, half > 0.1


class Doubles(nn.Module):
    """Everyday operators in float64."""

    def forward(self, x: Tensor):
        return x + 0.1, x * 3, x / 3, torch.exp(x), torch.tanh(x), x.sum(-1), x.softmax(-1), x**2
