"""`torch.Tensor([h, w])` and `torch.LongTensor([h, w])` of sizes, while a model is captured.

These constructors of old code ask each element for its number, so that the graph holds the sizes of
the example; no mode of torch sees them. Of sizes they are made by functions that torch.export
captures; of anything else they are themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from types import ModuleType
from typing import Any

import torch

from modelexport_exporter.torch_internals.names_of_modules import replaced_in
from modelexport_exporter.torch_internals.symbolic_ranges import SizeRange

_SIZES = (torch.SymInt, torch.SymFloat)
_DTYPES = {
    "FloatTensor": torch.float32,
    "DoubleTensor": torch.float64,
    "HalfTensor": torch.float16,
    "LongTensor": torch.int64,
    "IntTensor": torch.int32,
    "ShortTensor": torch.int16,
    "CharTensor": torch.int8,
    "ByteTensor": torch.uint8,
    "BoolTensor": torch.bool,
}
_PLAIN_NEW = torch.Tensor.__new__
Make = Callable[[Any, torch.dtype], Any]
"""Makes a tensor of nested lists of numbers and sizes, or returns NotImplemented."""


class _TypedTensor(str):
    """A type of tensors by another name: a string, by which `x.type(…)` knows it, too."""

    __slots__ = ("dtype", "make", "plain")
    plain: Any
    dtype: torch.dtype
    make: Make

    def __call__(self, *args: Any, **options: Any) -> Any:  # noqa: ANN401
        made = NotImplemented if options else _of_sizes(args, self.dtype, self.make)
        return self.plain(*args, **options) if made is NotImplemented else made

    def __instancecheck__(self, value: object) -> bool:
        return isinstance(value, self.plain)

    def __eq__(self, other: object) -> bool:
        return other is self.plain or str.__eq__(self, other)

    def __hash__(self) -> int:
        return hash(self.plain)


@contextmanager
def typed_tensors_of_sizes(modules: Sequence[ModuleType], make: Make) -> Iterator[None]:
    """Let the constructors take sizes, also by the names that these modules have for them."""
    import torch._dynamo  # which reads the signature of Tensor.__new__ once

    def new(cls: type, *args: Any, **options: Any) -> Any:  # noqa: ANN401
        made = NotImplemented
        if cls is torch.Tensor and not options:
            made = _of_sizes(args, torch.get_default_dtype(), make)
        return _PLAIN_NEW(cls, *args, **options) if made is NotImplemented else made

    with ExitStack() as stack:
        stack.callback(delattr, torch.Tensor, "__new__")
        setattr(torch.Tensor, "__new__", new)  # noqa: B010
        for typed in [_typed(name, make) for name in _DTYPES]:
            stack.enter_context(replaced_in((torch, *modules), typed.plain, typed))
        yield


def _typed(name: str, make: Make) -> _TypedTensor:
    typed = _TypedTensor(f"torch.{name}")
    typed.plain, typed.dtype, typed.make = getattr(torch, name), _DTYPES[name], make
    return typed


def _of_sizes(args: tuple[Any, ...], dtype: torch.dtype, make: Make) -> Any:  # noqa: ANN401
    """Return what a constructor makes of sizes; NotImplemented if there are none."""
    sizes = args[0] if len(args) == 1 and isinstance(args[0], torch.Size) else args
    if all(isinstance(size, int | torch.SymInt) for size in sizes):
        # Sizes of a tensor whose values are written later.
        is_open = any(isinstance(size, torch.SymInt) for size in sizes)
        return torch.empty(tuple(sizes), dtype=dtype) if is_open else NotImplemented
    if len(args) == 1 and isinstance(args[0], (list, tuple, SizeRange)) and _has_sizes(args[0]):
        return make(args[0], dtype)
    return NotImplemented


def _has_sizes(data: Any) -> bool:  # noqa: ANN401
    if type(data) is SizeRange:
        return True
    if isinstance(data, list | tuple):
        return any(_has_sizes(part) for part in data)
    return isinstance(data, _SIZES)
