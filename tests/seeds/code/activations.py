"""Activation functions: modules, functions, in place and their arguments."""

import torch
from torch import Tensor, nn

F = nn.functional


class Elu(nn.Module):
    """alpha, in place; scale and input_scale only ATen's own elu has."""

    def __init__(self) -> None:
        super().__init__()
        self.plain = nn.ELU()
        self.scaled = nn.ELU(alpha=0.3, inplace=True)

    def forward(self, x: Tensor):
        return (
            self.plain(x),
            self.scaled(x.clone()),
            F.elu(x, 2.0),
            F.elu_(x.clone()),
            F.celu(x, alpha=0.7),
            nn.CELU(2.0)(x),
        )


class EluOfATen(nn.Module):
    def forward(self, x: Tensor):
        return (
            torch.ops.aten.elu(x, 1.3, 2.0, 0.5),
            torch.ops.aten.elu(x, 1.0, 1.0, 3.0),
            torch.ops.aten.elu(x, 0.5, 1.5),
        )


class Selu(nn.Module):
    def forward(self, x: Tensor):
        return nn.SELU()(x), F.selu(x), torch.selu_(x.clone()), F.selu(x, inplace=False) * 2


class Prelu(nn.Module):
    """One weight a channel, one for all, and for inputs of rank 1, 2 and 4."""

    def __init__(self) -> None:
        super().__init__()
        self.each = nn.PReLU(4, init=0.1)
        self.shared = nn.PReLU()
        self.negative = nn.PReLU(4, init=-0.5)
        self.each.weight.data += torch.arange(4) * 0.2

    def forward(self, x: Tensor, image: Tensor):
        return (
            self.each(x),
            self.shared(x),
            self.each(image),
            self.shared(image),
            self.shared(x[:, 0]),
            self.negative(image),
            F.prelu(image, self.each.weight),
        )


class Threshold(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.other = nn.Threshold(0.5, -20.0)
        self.zero = nn.Threshold(0.0, 0.0)

    def forward(self, x: Tensor):
        return (
            self.other(x),
            self.zero(x),
            F.threshold(x, -1, 7),
            F.threshold_(x.clone(), 0.1, 0.2),
            torch.threshold(x, 0, 3),
            F.relu(x),
            x.clone().relu_(),
        )


class LeakyRelu(nn.Module):
    def forward(self, x: Tensor):
        return (
            F.leaky_relu(x),
            nn.LeakyReLU(0.2)(x),
            nn.LeakyReLU(-0.5)(x),
            F.leaky_relu(x.clone(), 0.3, inplace=True),
            F.leaky_relu(x, 1.5),
            F.rrelu(x, 0.1, 0.3, training=False),
        )


class Glu(nn.Module):
    def forward(self, x: Tensor, odd: Tensor):
        return F.glu(x), nn.GLU(1)(x), F.glu(x, dim=-2), F.glu(odd, dim=1)


class Softmax(nn.Module):
    """Every dim, not only the last; other dtypes; of rank 1."""

    def forward(self, x: Tensor):
        return (
            F.softmax(x, dim=-1),
            x.softmax(0),
            nn.Softmax(1)(x),
            torch.softmax(x, 2, dtype=torch.float64),
            x[0, 0].softmax(0),
            nn.Softmax2d()(x[:, :, :, None]),
            F.softmin(x, 1),
            F.gumbel_softmax(x, dim=1) * 0 if self.training else x.softmax(-2),
        )


class LogSoftmax(nn.Module):
    def forward(self, x: Tensor):
        return (
            F.log_softmax(x, dim=-1),
            x.log_softmax(0),
            nn.LogSoftmax(1)(x),
            torch.log_softmax(x, 2, dtype=torch.float64),
            x[0, 0].log_softmax(-1),
        )


class Smooth(nn.Module):
    def forward(self, x: Tensor):
        return (
            F.gelu(x),
            F.gelu(x, approximate="tanh"),
            F.silu(x),
            F.mish(x),
            F.softplus(x, beta=2, threshold=3),
            F.softsign(x),
            F.tanhshrink(x),
            F.softshrink(x, 0.3),
            F.hardshrink(x, 0.7),
            F.hardswish(x),
            F.hardsigmoid(x),
            F.logsigmoid(x),
        )


class Dropout(nn.Module):
    """In eval mode it is nothing, whatever its form."""

    def __init__(self) -> None:
        super().__init__()
        self.plain = nn.Dropout(0.9)
        self.alpha = nn.AlphaDropout(0.5)
        self.feature = nn.Dropout2d(0.7)
        self.third = nn.Dropout3d(0.7)
        self.first = nn.Dropout1d(0.7)
        self.feature_alpha = nn.FeatureAlphaDropout(0.4)

    def forward(self, x: Tensor):
        return (
            self.plain(x) + 0,
            self.alpha(x) * 1.5,
            self.feature(x) + 1,
            self.third(x[:, None]) - 1,
            self.first(x[:, 0]) * 2,
            self.feature_alpha(x) + 2,
            F.dropout(x, 0.5, training=self.training) * 3,
            F.dropout(x, 0.0, training=True) * 4,
        )


class DropoutForgotten(nn.Module):
    """F.dropout with training left at its default: random in eval mode, too."""

    def forward(self, x: Tensor) -> Tensor:
        return F.dropout(x, 0.5) + 1


class FeatureDropoutForgotten(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return F.dropout2d(x, 0.5, training=True)


class DropoutOfNothing(nn.Module):
    """Train mode, p = 0: deterministic."""

    def __init__(self) -> None:
        super().__init__()
        self.feature = nn.Dropout2d(0.0)
        self.plain = nn.Dropout(0.0)

    def forward(self, x: Tensor) -> Tensor:
        result: Tensor = self.plain(self.feature(x)) * 2
        return result


class DropoutOfAll(nn.Module):
    """Train mode, p = 1: deterministic."""

    def __init__(self) -> None:
        super().__init__()
        self.feature = nn.Dropout2d(1.0)

    def forward(self, x: Tensor) -> Tensor:
        result: Tensor = self.feature(x) + x
        return result
