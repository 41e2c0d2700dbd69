"""The digits network of examples/digits, trained once for a test run."""

from __future__ import annotations

import importlib
import sys
import tempfile
from functools import cache
from pathlib import Path
from types import ModuleType

import torch

EXAMPLE = Path(__file__).parents[2] / "examples" / "digits"


@cache
def example() -> ModuleType:
    """Return examples/digits/train.py as a module; it imports the network of model.py."""
    sys.path.insert(0, str(EXAMPLE))
    try:
        return importlib.import_module("train")
    finally:
        sys.path.remove(str(EXAMPLE))
        for name in ("train", "model"):
            sys.modules.pop(name, None)


@cache
def trained() -> tuple[torch.nn.Module, torch.optim.Optimizer]:
    """Return the trained network in eval mode, and its optimizer; takes a few seconds."""
    model, optimizer = example().train()
    return model, optimizer


def write_checkpoint(path: Path) -> None:
    """Write the checkpoint that the example's training writes."""
    example().save(*trained(), path)


def checkpoint_bytes() -> bytes:
    """Return that checkpoint's content."""
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "checkpoint.pt"
        write_checkpoint(path)
        return path.read_bytes()


def held_out() -> tuple[torch.Tensor, torch.Tensor]:
    """Return the images and labels that the training did not see."""
    _, (images, labels) = example().split()
    return images, labels
