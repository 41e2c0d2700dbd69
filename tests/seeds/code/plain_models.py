"""Small modules of the kinds that workflows speak of: weights, modes, wrappers."""

from __future__ import annotations

import torch
from torch import nn


class ConvNet(nn.Module):
    """Convolution, BatchNorm, pooling and a classifier."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding=1)
        self.norm = nn.BatchNorm2d(8)
        self.pool = nn.AdaptiveAvgPool2d(2)
        self.classify = nn.Linear(32, 5)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        features = self.pool(torch.relu(self.norm(self.conv(image))))
        scores: torch.Tensor = self.classify(features.flatten(1))
        return scores


class Perceptron(nn.Module):
    """Two layers, of which every opset has the operators."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(6, 16)
        self.second = nn.Linear(16, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        scores: torch.Tensor = self.second(torch.relu(self.first(x)))
        return torch.softmax(scores, dim=1)


class Sum(nn.Module):
    """The documentation's module for dynamic axes; it has no weights."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.sum(x, dim=1)


class NormAndDropout(nn.Module):
    """Computes something else in each mode."""

    def __init__(self, dropout: float = 0.0) -> None:
        super().__init__()
        self.linear = nn.Linear(6, 8)
        self.norm = nn.BatchNorm1d(8)
        self.drop = nn.Dropout(dropout)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = self.drop(self.norm(self.linear(x)))
        return y


class ExportBranch(nn.Module):
    """Takes another, equivalent way while it is exported."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(6, 6)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.linear(x)
        if torch.onnx.is_in_onnx_export():
            return torch.clamp(y, min=0.0)
        return torch.relu(y)


class WrongExportBranch(nn.Module):
    """Computes something else while it is exported."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(6, 6)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = self.linear(x)
        if torch.onnx.is_in_onnx_export():
            return y
        return y * 2


class SmallOperators(nn.Module):
    """An affine map written with two small operators instead of one large one."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.randn(6))
        self.shift = nn.Parameter(torch.randn(6))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.add(torch.mul(x, self.scale), self.shift)


class Sensitive(nn.Module):
    """Subtracts numbers that are nearly equal, so that rounding shows."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(6, 16)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = self.linear(x)
        return torch.softmax(y, dim=1).cumsum(1) - torch.sigmoid(y).mean(1, keepdim=True)


def conv_net() -> nn.Module:
    return ConvNet()


def perceptron() -> nn.Module:
    return Perceptron()


def perceptron_in_train_mode() -> nn.Module:
    return NormAndDropout(dropout=0.5).train()


def norm_and_dropout(dropout: float = 0.0) -> nn.Module:
    return NormAndDropout(dropout)


def data_parallel() -> nn.Module:
    return nn.DataParallel(ConvNet())


def mode_for_export() -> nn.Module:
    """Measure an output in eval mode first, as users of the API's context manager do."""
    model = NormAndDropout(dropout=0.5).train()
    with torch.onnx.select_model_mode_for_export(model, torch.onnx.TrainingMode.EVAL):
        assert not model.training
    assert model.training
    return model


def set_training() -> nn.Module:
    """Use a function that torch has removed."""
    model = NormAndDropout()
    with torch.onnx.set_training(model, False):  # type: ignore[attr-defined]
        return model
