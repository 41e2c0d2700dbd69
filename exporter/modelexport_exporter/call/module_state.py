"""What a module keeps between two calls: buffers, attributes and defaults of parameters."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import torch

from modelexport_exporter.torch_internals.tensors_and_buffers import own_buffers, write_count
from modelexport_exporter.user_code.mutable_defaults import CONTAINERS, mutable_defaults, refill

_DEEPEST = 3
"""Containers in each other: a list of tuples of tensors."""
_PLAIN = (bool, int, float, str)


@dataclass
class _Held:
    """A tensor in an attribute, how often it was written, and a copy of its elements."""

    tensor: torch.Tensor
    written: int
    content: torch.Tensor


class ModuleState:
    """The state of a module at one time.

    Copies buffers and the tensors of attributes, of parameters only how often they were written.
    """

    def __init__(self, module: torch.nn.Module) -> None:
        self._values = _state(module)
        self._names = set(_names(module))
        self._empty = {name for name, buffer in _buffers(module) if buffer is None}
        self._attributes = dict(_attributes(module))
        self._contents = {
            name: (held, copy.copy(held)) for name, held in _containers(module).items()
        }
        self._tensors = [
            _Held(tensor, write_count(tensor), tensor.detach().clone())
            for held in (*(held for held, _ in self._contents.values()), *self._attributes.values())
            for tensor in _tensors_in(held)
        ]
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
        self._rewrite()
        for held, content in self._defaults:
            refill(held, content)
        for name in self.changed(module):
            kind, _, path = name.partition(" ")
            if kind == "buffer" and name in self._values:
                _set(module, path, self._values[name].clone())
            elif kind == "attribute" and path in self._attributes:
                _set(module, path, self._attributes[path])
            elif path in self._empty:
                _set(module, path, None)
            elif kind in {"buffer", "attribute"} and path not in self._names:
                _delete(module, path)

    def _rewrite(self) -> None:
        """Undo what was written into tensors that attributes hold."""
        for held in self._tensors:
            if write_count(held.tensor) != held.written:
                with torch.no_grad():
                    held.tensor.copy_(held.content)
                held.written = write_count(held.tensor)


def _state(module: torch.nn.Module) -> dict[str, Any]:
    state: dict[str, Any] = {
        f"buffer {name}": tensor.detach().clone() for name, tensor in module.named_buffers()
    }
    state |= {f"parameter {name}": write_count(tensor) for name, tensor in _parameters(module)}
    for path, value in _attributes(module):
        state[f"attribute {path}"] = _content(value)
    for name, held in _containers(module).items():
        kind = next(kind for kind in CONTAINERS if isinstance(held, kind))
        state[f"{kind.__name__} {name}"] = _content(held)
    for name, held in mutable_defaults(module).items():
        state[f"default argument {name}"] = len(held)
    return state


def _names(module: torch.nn.Module) -> Iterator[str]:
    """Yield the names of all attributes and buffers of parts of the module."""
    for path, part in module.named_modules():
        for name in (*vars(part), *own_buffers(part).keys()):  # of a script: no mapping
            yield f"{path}.{name}".lstrip(".")


def _buffers(module: torch.nn.Module) -> Iterator[tuple[str, torch.Tensor | None]]:
    """Yield the buffers of parts of the module, those without a tensor too."""
    for path, part in module.named_modules():
        for name, buffer in own_buffers(part).items():
            yield f"{path}.{name}".lstrip("."), buffer


def _attributes(module: torch.nn.Module) -> Iterator[tuple[str, Any]]:
    """Yield the plain values, tuples and tensors that are attributes of parts of the module."""
    for path, part in module.named_modules():
        for name, value in vars(part).items():
            if value is None or isinstance(value, (*_PLAIN, tuple, torch.Tensor)):
                yield f"{path}.{name}".lstrip("."), value


def _containers(module: torch.nn.Module) -> dict[str, Any]:
    """Return the lists, dicts, sets and deques that are attributes of parts of the module."""
    return {
        f"{path}.{name}".lstrip("."): value
        for path, part in module.named_modules()
        for name, value in vars(part).items()
        if isinstance(value, CONTAINERS) and not name.startswith("_")
    }


def _content(value: object, depth: int = 0) -> Any:  # noqa: ANN401
    """Return a copy that can be compared later: of tensors, of numbers, of containers of them."""
    if isinstance(value, torch.Tensor):
        return value.detach().clone() if _is_compared(value) else (id(value), _writes(value))
    if isinstance(value, (tuple, *CONTAINERS)) and depth < _DEEPEST:
        return [_content(element, depth + 1) for element in _elements(value)]
    return value if value is None or isinstance(value, _PLAIN) else id(value)


def _tensors_in(value: object, depth: int = 0) -> Iterator[torch.Tensor]:
    """Yield the tensors of containers in each other that are no parameters."""
    if isinstance(value, torch.Tensor):
        if _is_compared(value) and not value.is_inference():
            yield value
    elif isinstance(value, (tuple, *CONTAINERS)) and depth < _DEEPEST:
        for element in _elements(value):
            yield from _tensors_in(element, depth + 1)


def _is_compared(tensor: torch.Tensor) -> bool:
    """Return whether its elements are copied; parameters would double the memory."""
    plain = tensor.layout is torch.strided and not tensor.is_quantized and not tensor.is_nested
    return plain and not isinstance(tensor, torch.nn.Parameter)


def _writes(tensor: torch.Tensor) -> int:
    return 0 if tensor.is_inference() else write_count(tensor)


def _elements(held: Any) -> Iterable[Any]:  # noqa: ANN401 - a tuple or one of CONTAINERS
    if isinstance(held, dict):
        return [*held, *held.values()]
    return sorted(held, key=id) if isinstance(held, set) else held


def _delete(module: torch.nn.Module, path: str) -> None:
    owner, own = _owner(module, path)
    delattr(owner, own)


def _set(module: torch.nn.Module, path: str, value: object) -> None:
    owner, own = _owner(module, path)
    setattr(owner, own, value)


def _owner(module: torch.nn.Module, path: str) -> tuple[torch.nn.Module, str]:
    """Return the part of a module that has an attribute, and its name there."""
    owner, _, own = path.rpartition(".")
    return dict(module.named_modules())[owner], own  # a script has no get_submodule


def _parameters(module: torch.nn.Module) -> list[tuple[str, torch.Tensor]]:
    """Return the parameters that count how often they were written."""
    return [(name, own) for name, own in module.named_parameters() if not own.is_inference()]


def _differ(one: object, other: object) -> bool:
    if isinstance(one, torch.Tensor) and type(one) is type(other):  # a capture leaves fake ones
        assert isinstance(other, torch.Tensor)
        return one.shape != other.shape or one.dtype != other.dtype or not _are_equal(one, other)
    if isinstance(one, torch.Tensor) or isinstance(other, torch.Tensor):
        return True
    if isinstance(one, list) and isinstance(other, list):
        return len(one) != len(other) or any(map(_differ, one, other))
    return one != other and one == one and other == other  # noqa: PLR0124 - nan differs from itself


def _ids(held: Any) -> list[int]:  # noqa: ANN401 - a list, a dict or a set
    return [id(element) for element in _elements(held)]


def _are_equal(one: torch.Tensor, other: torch.Tensor) -> bool:
    return bool(((one == other) | (one.isnan() & other.isnan())).all())
