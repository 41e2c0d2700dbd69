"""The arguments of a call as Python, its tensors as the names of inputs."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

_MODULES = {
    "torch": torch,
    "torch.nn.functional": torch.nn.functional,
    "torch.linalg": torch.linalg,
    "torch.special": torch.special,
    "torch.fft": torch.fft,
    "torch.signal.windows": torch.signal.windows,
    "torch.masked": torch.masked,
    "torch.Tensor": torch.Tensor,
}
OTHER = "OPERATOR"
"""Stands for a callable that only the database has."""


class CannotBeWrittenError(Exception):
    """An argument that is no part of a module's text, or a tensor that ONNX has not."""


def text_of(value: object, tensors: list[torch.Tensor]) -> str:
    """Return the text of an argument; its tensors are appended. Raises CannotBeWrittenError."""
    if isinstance(value, torch.Tensor):
        return _input(value, tensors)
    if isinstance(value, list | tuple):
        inner = "".join(f"{text_of(entry, tensors)}, " for entry in value)
        return f"[{inner}]" if isinstance(value, list) else f"({inner})"
    for kinds, text in _TEXTS:
        if isinstance(value, kinds):
            return text(value)
    raise CannotBeWrittenError(type(value).__name__)


def _of_float(value: float) -> str:
    return repr(value) if math.isfinite(value) else f"float('{value}')"


_TEXTS: tuple[tuple[Any, Callable[[Any], str]], ...] = (
    (float, _of_float),
    ((type(None), bool, int, str, complex), repr),
    (type(Ellipsis), lambda _: "..."),
    ((torch.dtype, torch.memory_format), str),
    (torch.device, lambda device: f"torch.device({str(device)!r})"),
    (slice, repr),
)


def _input(value: torch.Tensor, tensors: list[torch.Tensor]) -> str:
    if value.layout is not torch.strided or value.is_quantized:
        raise CannotBeWrittenError(f"{value.layout} {value.dtype}")
    if value.is_complex():
        parts = torch.view_as_real(value.resolve_conj())
        return f"torch.complex({_input(parts[..., 0], tensors)}, {_input(parts[..., 1], tensors)})"
    tensors.append(value.detach().resolve_conj().resolve_neg().contiguous().clone())
    return f"x{len(tensors) - 1}"


def name_of(function: Callable[..., Any]) -> str:
    """Return the name under which torch has a function; `OTHER` if it has none."""
    name = getattr(function, "__name__", "")
    for place, module in _MODULES.items():
        if getattr(module, name, None) is function:
            return f"{place}.{name}"
    return OTHER
