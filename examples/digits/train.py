"""Train the network on the digits that ship inside scikit-learn, and save a checkpoint.

The checkpoint is what a training job writes: the state_dict, the optimizer's state and the epoch.
"""

from __future__ import annotations

import os
from pathlib import Path

import torch
from model import build
from sklearn.datasets import load_digits
from torch import nn

CHECKPOINT = Path(__file__).parents[2] / "build" / "digits" / "checkpoint.pt"
HOLDOUT = 360
EPOCHS = 12
BATCH = 64

Data = tuple[torch.Tensor, torch.Tensor]


def split() -> tuple[Data, Data]:
    """Return (images, labels) to train with and to test with, always the same."""
    digits = load_digits()
    order = torch.randperm(len(digits.target), generator=torch.Generator().manual_seed(0))
    images = torch.tensor(digits.images, dtype=torch.float32)[order].unsqueeze(1) / 16
    labels = torch.tensor(digits.target)[order]
    held_out, rest = slice(None, HOLDOUT), slice(HOLDOUT, None)
    return (images[rest], labels[rest]), (images[held_out], labels[held_out])


def train() -> tuple[nn.Module, torch.optim.Optimizer]:
    """Return the trained network in eval mode, and its optimizer."""
    torch.manual_seed(0)
    model = build()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    (images, labels), _ = split()
    for _ in range(EPOCHS):
        for batch in torch.randperm(len(labels)).split(BATCH):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(images[batch]), labels[batch]).backward()
            optimizer.step()
    return model.eval(), optimizer


def accuracy(model: nn.Module) -> float:
    """Return the share of held-out digits that the network recognises."""
    _, (images, labels) = split()
    with torch.inference_mode():
        return float((model(images).argmax(dim=1) == labels).float().mean())


def save(model: nn.Module, optimizer: torch.optim.Optimizer, path: Path) -> None:
    """Write a checkpoint as training jobs do."""
    path.parent.mkdir(parents=True, exist_ok=True)
    state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": EPOCHS}
    torch.save(state, path)


if __name__ == "__main__":
    network, adam = train()
    save(network, adam, CHECKPOINT)
    print(f"accuracy on {HOLDOUT} held-out digits: {accuracy(network):.1%}")
    print(f"checkpoint: {os.path.relpath(CHECKPOINT)}")
