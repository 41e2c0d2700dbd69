"""Image models of PyTorch's examples: DCGAN and super-resolution, and torchvision's by name."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn


class Generator(nn.Module):
    """DCGAN: from a latent vector to an image of 64 x 64."""

    def __init__(self, latent: int = 16, width: int = 8) -> None:
        super().__init__()
        self.main = nn.Sequential(
            nn.ConvTranspose2d(latent, width * 8, 4, 1, 0, bias=False),
            nn.BatchNorm2d(width * 8),
            nn.ReLU(True),
            nn.ConvTranspose2d(width * 8, width * 4, 4, 2, 1, bias=False),
            nn.BatchNorm2d(width * 4),
            nn.ReLU(True),
            nn.ConvTranspose2d(width * 4, width * 2, 4, 2, 1, bias=False),
            nn.BatchNorm2d(width * 2),
            nn.ReLU(True),
            nn.ConvTranspose2d(width * 2, width, 4, 2, 1, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(True),
            nn.ConvTranspose2d(width, 3, 4, 2, 1, bias=False),
            nn.Tanh(),
        )

    def forward(self, z: torch.Tensor) -> torch.Tensor:
        image: torch.Tensor = self.main(z)
        return image


class Discriminator(nn.Module):
    """DCGAN: the probability that an image of 64 x 64 is real."""

    def __init__(self, width: int = 8) -> None:
        super().__init__()
        self.main = nn.Sequential(
            nn.Conv2d(3, width, 4, 2, 1, bias=False),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Conv2d(width, width * 2, 4, 2, 1, bias=False),
            nn.BatchNorm2d(width * 2),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Conv2d(width * 2, width * 4, 4, 2, 1, bias=False),
            nn.BatchNorm2d(width * 4),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Conv2d(width * 4, width * 8, 4, 2, 1, bias=False),
            nn.BatchNorm2d(width * 8),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Conv2d(width * 8, 1, 4, 1, 0, bias=False),
            nn.Sigmoid(),
        )

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        probability: torch.Tensor = self.main(image)
        return probability.view(-1, 1).squeeze(1)


class SuperResolution(nn.Module):
    """Upscales one channel by rearranging channels into pixels."""

    def __init__(self, upscale: int = 3) -> None:
        super().__init__()
        self.relu = nn.ReLU()
        self.conv1 = nn.Conv2d(1, 64, (5, 5), (1, 1), (2, 2))
        self.conv2 = nn.Conv2d(64, 64, (3, 3), (1, 1), (1, 1))
        self.conv3 = nn.Conv2d(64, 32, (3, 3), (1, 1), (1, 1))
        self.conv4 = nn.Conv2d(32, upscale**2, (3, 3), (1, 1), (1, 1))
        self.pixel_shuffle = nn.PixelShuffle(upscale)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.relu(self.conv1(x))
        x = self.relu(self.conv2(x))
        x = self.relu(self.conv3(x))
        image: torch.Tensor = self.pixel_shuffle(self.conv4(x))
        return image


def torchvision_model(name: str, **kwargs: Any) -> nn.Module:
    import torchvision

    model: nn.Module = torchvision.models.get_model(name, weights=None, **kwargs)
    return model


def vgg16(batch_norm: bool) -> nn.Module:
    """VGG-16 with a narrow classifier: the wide one is 120 million weights and no new operator."""
    model = torchvision_model("vgg16_bn" if batch_norm else "vgg16", init_weights=False)
    model.classifier = nn.Sequential(
        nn.Linear(512 * 7 * 7, 32), nn.ReLU(True), nn.Dropout(), nn.Linear(32, 10)
    )
    return model


def generator() -> nn.Module:
    return Generator()


def discriminator() -> nn.Module:
    return Discriminator()


def super_resolution() -> nn.Module:
    return SuperResolution()
