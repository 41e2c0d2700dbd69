"""A small convolutional network for images of 8x8 pixels: what ModelExport builds."""

from __future__ import annotations

import torch
from torch import nn


class DigitsNet(nn.Module):
    """Two convolutions with BatchNorm, pooling, and a linear classifier."""

    def __init__(self, width: int = 16) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, width, 3, padding=1),
            nn.BatchNorm2d(width),
            nn.ReLU(),
            nn.Conv2d(width, 2 * width, 3, padding=1),
            nn.BatchNorm2d(2 * width),
            nn.ReLU(),
            nn.MaxPool2d(2),
        )
        self.classifier = nn.Sequential(nn.Flatten(), nn.Dropout(0.2), nn.Linear(32 * width, 10))

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        """Return the logits of the ten digits; image is [batch, 1, 8, 8], pixels from 0 to 1."""
        logits: torch.Tensor = self.classifier(self.features(image))
        return logits


def build(width: int = 16) -> nn.Module:
    """Return the network without weights: `model.factory` in modelexport.yaml."""
    return DigitsNet(width)
