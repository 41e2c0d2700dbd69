"""A small convolutional network with batch normalisation."""

from __future__ import annotations

import torch
from torch import nn


class Digits(nn.Module):
    def __init__(self, width: int = 8) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, width, 3, padding=1),
            nn.BatchNorm2d(width),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Dropout(0.5),
        )
        self.head = nn.Linear(width * 16, 10)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        logits: torch.Tensor = self.head(self.features(image).flatten(1))
        return logits


def build(width: int = 8) -> nn.Module:
    print("the factory says hello")
    return Digits(width)
