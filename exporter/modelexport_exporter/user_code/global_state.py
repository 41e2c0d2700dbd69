"""What a factory changes for the whole process, put back, so that only its module remains.

Guarantees that the export and the reference run under PyTorch's defaults (dtype, device, autograd,
determinism, number of threads, random numbers, working directory) after user code changed it, and
that what was restored is reported: it is the first thing to know when a model behaves differently.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from modelexport_exporter.core.types import ContractFinding


@dataclass(frozen=True)
class _Setting:
    """One global: how it is read, and how it is set."""

    name: str
    read: Callable[[], Any]
    write: Callable[[Any], object]


def _default_device() -> torch.device | None:
    device = torch.get_default_device()
    return None if device.type == "cpu" else device


def _deterministic() -> tuple[bool, bool]:
    return (
        torch.are_deterministic_algorithms_enabled(),
        torch.is_deterministic_algorithms_warn_only_enabled(),
    )


def _set_deterministic(value: tuple[bool, bool]) -> None:
    torch.use_deterministic_algorithms(value[0], warn_only=value[1])


def _change_directory(path: str) -> None:
    if path:
        os.chdir(path)


def _directory() -> str:
    try:
        return str(Path.cwd())
    except OSError:  # it was removed
        return ""


_SETTINGS = (
    _Setting("the default dtype", torch.get_default_dtype, torch.set_default_dtype),
    _Setting("the default device", _default_device, torch.set_default_device),
    _Setting("grad mode", torch.is_grad_enabled, torch.set_grad_enabled),
    _Setting("deterministic algorithms", _deterministic, _set_deterministic),
    _Setting(
        "the precision of matmul",
        torch.get_float32_matmul_precision,
        torch.set_float32_matmul_precision,
    ),
    _Setting(
        "the fast path of attention",
        torch.backends.mha.get_fastpath_enabled,
        torch.backends.mha.set_fastpath_enabled,
    ),
    _Setting("the number of threads", torch.get_num_threads, torch.set_num_threads),
    _Setting("the working directory", _directory, _change_directory),
)


class Guard:
    """Collects what user code changed while it ran inside `watching`."""

    def __init__(self) -> None:
        self._changed: dict[str, str] = {}

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Put every setting back when the block ends, however it ends."""
        before = [(setting, setting.read()) for setting in _SETTINGS]
        try:
            yield
        finally:
            for setting, value in before:
                found = setting.read()
                if found != value:
                    self._changed[setting.name] = str(found)
                    setting.write(value)

    @property
    def findings(self) -> tuple[ContractFinding, ...]:
        """Return what was put back, for the report."""
        return tuple(
            ContractFinding(
                subject="factory",
                requested=f"{name} set to {value} for the whole process",
                obtained="put back: the model is exported under PyTorch's defaults",
            )
            for name, value in self._changed.items()
        )
