"""What a module keeps between two calls: buffers, attributes and defaults of parameters."""

from __future__ import annotations

import copy
from typing import Any

import torch

from modelexport_exporter.torch_internals.tensors_and_buffers import write_count
from modelexport_exporter.user_code.mutable_defaults import CONTAINERS, mutable_defaults, refill


class ModuleState:
    """The state of a module at one time. Copies buffers, of parameters only how often written."""

    def __init__(self, module: torch.nn.Module) -> None:
        self._values = _state(module)
        self._contents = {
            name: (held, copy.copy(held)) for name, held in _containers(module).items()
        }
        self._defaults = [(held, copy.copy(held)) for held in mutable_defaults(module).values()]

    def changed(self, module: torch.nn.Module) -> list[str]:
        """Return what is another now: `buffer memory`, `attribute encoder.count`."""
        before, after = self._values, _state(module)
        return [name for name in after if name not in before or _differ(before[name], after[name])]

    def restore(self, module: torch.nn.Module) -> None:
        """Give buffers, plain attributes and containers their values of that time."""
        now = _containers(module)
        for name, (held, content) in self._contents.items():
            if now.get(name) is not held:  # torch.export leaves a copy
                _set(module, name, held)
            if _ids(held) != _ids(content):
                refill(held, content)
        for held, content in self._defaults:
            refill(held, content)
        for name in self.changed(module):
            kind, _, path = name.partition(" ")
            if name in self._values and kind in {"buffer", "attribute"}:
                value = self._values[name]
                _set(module, path, value.clone() if isinstance(value, torch.Tensor) else value)


def _state(module: torch.nn.Module) -> dict[str, object]:
    state: dict[str, object] = {
        f"buffer {name}": tensor.detach().clone() for name, tensor in module.named_buffers()
    }
    state |= {f"parameter {name}": write_count(tensor) for name, tensor in _parameters(module)}
    for path, part in module.named_modules():
        for name, value in vars(part).items():
            if value is None or isinstance(value, bool | int | float | str | tuple):
                state[f"attribute {f'{path}.{name}'.lstrip('.')}"] = value
            elif isinstance(value, torch.Tensor):
                state[f"attribute {f'{path}.{name}'.lstrip('.')}"] = value.detach().clone()
    for name, held in _containers(module).items():
        kind = next(kind for kind in CONTAINERS if isinstance(held, kind))
        state[f"{kind.__name__} {name}"] = len(held)
    for name, held in mutable_defaults(module).items():
        state[f"default argument {name}"] = len(held)
    return state


def _containers(module: torch.nn.Module) -> dict[str, Any]:
    """Return the lists, dicts, sets and deques that are attributes of parts of the module."""
    return {
        f"{path}.{name}".lstrip("."): value
        for path, part in module.named_modules()
        for name, value in vars(part).items()
        if isinstance(value, CONTAINERS) and not name.startswith("_")
    }


def _set(module: torch.nn.Module, path: str, value: object) -> None:
    owner, _, own = path.rpartition(".")
    setattr(module.get_submodule(owner), own, value)


def _parameters(module: torch.nn.Module) -> list[tuple[str, torch.Tensor]]:
    """Return the parameters that count how often they were written."""
    return [(name, own) for name, own in module.named_parameters() if not own.is_inference()]


def _differ(one: object, other: object) -> bool:
    if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
        return one.shape != other.shape or one.dtype != other.dtype or not _are_equal(one, other)
    if isinstance(one, torch.Tensor) or isinstance(other, torch.Tensor):
        return True
    return one != other and one == one and other == other  # noqa: PLR0124 - nan differs from itself


def _ids(held: Any) -> list[int]:  # noqa: ANN401 - a list, a dict or a set
    elements = [*held, *held.values()] if isinstance(held, dict) else held
    return [id(element) for element in elements]


def _are_equal(one: torch.Tensor, other: torch.Tensor) -> bool:
    return bool(((one == other) | (one.isnan() & other.isnan())).all())
