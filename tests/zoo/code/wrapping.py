"""One small network, in everything that training wraps around it or leaves behind."""

from __future__ import annotations

import os

import torch
from torch import nn


class Net(nn.Module):
    """Two layers whose names are `body.*` and `head.*`."""

    def __init__(self, width: int = 8) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, width), nn.BatchNorm1d(width), nn.ReLU())
        self.head = nn.Linear(width, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        scores: torch.Tensor = self.head(self.body(x))
        return scores


class Deployed(Net):
    """Leaves out what only training needs, once its user calls eval()."""

    deployed = False

    def eval(self) -> Deployed:
        self.deployed = True
        return super().eval()


class Training(nn.Module):
    """Holds the network as Lightning modules do, next to a loss with weights."""

    def __init__(self) -> None:
        super().__init__()
        self.model = Net()
        self.loss = nn.CrossEntropyLoss(weight=torch.ones(3))


def in_data_parallel() -> nn.Module:
    return nn.DataParallel(Net())


def body_in_data_parallel() -> nn.Module:
    net = Net()
    net.body = nn.DataParallel(net.body)  # type: ignore[assignment]
    return net


def compiled() -> nn.Module:
    module: nn.Module = torch.compile(Net(), backend="eager")  # type: ignore[assignment]
    return module


def in_train_mode() -> nn.Module:
    return Net().train()


def scripted() -> nn.Module:
    module: nn.Module = torch.jit.script(Net())
    return module


def _double_or_negate(x: torch.Tensor, times: int) -> torch.Tensor:
    if bool(x.sum() > 0):
        return x * times
    return -x


def scripted_function() -> object:
    return torch.jit.script(_double_or_negate)


def traced_function() -> object:
    return torch.jit.trace(torch.sin, torch.ones(2))  # type: ignore[no-untyped-call]


def changes_the_process() -> nn.Module:
    torch.set_default_dtype(torch.float64)
    torch.set_default_device("meta")
    torch.set_grad_enabled(False)
    torch.use_deterministic_algorithms(True)
    torch.manual_seed(4)
    os.chdir("/")
    return Net().float().to_empty(device="cpu")
