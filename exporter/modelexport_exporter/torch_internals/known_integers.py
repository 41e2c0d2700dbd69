"""Sizes that a module computes with integers which it keeps in tensors stay symbolic.

`(x.shape[-1] - self.kernel_size + self.padding) / self.stride`, where the three are buffers, is a
tensor: torch.export makes a number without a value of each `.item()` of it, also of those that
`F.pad` asks for, and refuses the first condition on it. While the block runs, fake tensors of such
integers have their number, and what is computed from them and from sizes has the symbolic result.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorConverter
from torch.export import ExportedProgram
from torch.fx.experimental.proxy_tensor import ProxyTorchDispatchMode
from torch.utils._mode_utils import no_dispatch

from modelexport_exporter.torch_internals.symbolic_sizes import largest

_ATEN = torch.ops.aten
_KNOWN = "_modelexport_number"
"""Attribute of fake tensors: their number, and their version that has it. Key of programs."""
_ITEMS = (
    _ATEN.item.default,
    _ATEN._local_scalar_dense.default,  # noqa: SLF001
    _ATEN.is_nonzero.default,
)
_LARGEST_DIVIDED = 2**22
"""Quotients in float32 of larger numbers may be whole where the exact ones are not: float32 has 24
bits, of which a sum with the quotient may take one, and one is kept in reserve."""


def _divided(one: Any, other: Any) -> Any:  # noqa: ANN401
    return one / other if _is_divisor(other) and _is_small(one) and _is_small(-one) else None


def _is_small(number: Any) -> bool:  # noqa: ANN401
    high = largest(number) if isinstance(number, torch.SymInt) else number
    return high is not None and high <= _LARGEST_DIVIDED


def _is_divisor(number: Any) -> bool:  # noqa: ANN401
    return isinstance(number, int) and number != 0


def _quotient(one: Any, other: Any, rounding_mode: str = "floor") -> Any:  # noqa: ANN401
    return one // other if rounding_mode == "floor" and _is_divisor(other) else None


def _remainder(one: Any, other: Any) -> Any:  # noqa: ANN401
    return one % other if _is_divisor(other) else None


def _product(one: Any, other: Any) -> Any:  # noqa: ANN401
    # float32 rounds a third of 5, and three times that again.
    rounded = any(isinstance(factor, float | torch.SymFloat) for factor in (one, other))
    return None if rounded else one * other


def _unequal(one: Any, other: Any) -> Any:  # noqa: ANN401
    return one if isinstance(one, bool | torch.SymBool) and other == 0 else one != other


def _whole(way: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda one: one if isinstance(one, int | torch.SymInt) else way(one)


def _both(name: str, function: Callable[..., Any]) -> dict[Any, Callable[..., Any]]:
    """Return the overloads for a tensor and for a number on the right."""
    overloads = getattr(_ATEN, name)
    return {overloads.Tensor: function, overloads.Scalar: function}


_FUNCTIONS: Mapping[Any, Callable[..., Any]] = {
    **_both("add", lambda one, other, alpha=1: one + other * alpha),
    **_both("sub", lambda one, other, alpha=1: one - other * alpha),
    **_both("rsub", lambda one, other, alpha=1: other - one * alpha),
    **_both("mul", _product),
    **_both("div", _divided),
    **_both("remainder", _remainder),
    **dict.fromkeys((_ATEN.div.Tensor_mode, _ATEN.div.Scalar_mode), _quotient),
    **{
        overload: function
        for name in ("le", "lt", "ge", "gt", "eq")
        for overload, function in _both(name, getattr(operator, name)).items()
    },
    **_both("ne", _unequal),
    _ATEN.floor_divide.default: _quotient,
    _ATEN.maximum.default: torch.sym_max,
    _ATEN.minimum.default: torch.sym_min,
    _ATEN.neg.default: operator.neg,
    _ATEN.ceil.default: _whole(math.ceil),
    _ATEN.floor.default: _whole(math.floor),
    _ATEN.trunc.default: _whole(math.trunc),
}
_CASTS = frozenset(
    {
        _ATEN.to.dtype,
        _ATEN.to.dtype_layout,
        _ATEN.to.device,
        _ATEN.to.other,
        _ATEN._to_copy.default,  # noqa: SLF001
        _ATEN.type_as.default,
        _ATEN.alias.default,
        _ATEN.clone.default,
        _ATEN.contiguous.default,
        _ATEN.detach.default,
        _ATEN.lift_fresh.default,
        _ATEN.lift_fresh_copy.default,
        _ATEN.scalar_tensor.default,
    }
)
"""What returns the number of its first operand, in another dtype or as it is."""
_WHOLE = (torch.int64, torch.bool)
_DTYPES = (*_WHOLE, torch.float32, torch.float64)
_READ = (*_WHOLE, torch.int32, torch.int16, torch.int8, torch.uint8)
"""Dtypes of which a number is read; one that is computed in fewer bits would wrap."""


def integers_of(module: torch.nn.Module) -> dict[str, torch.Tensor]:
    """Return the buffers of a module that hold one integer or one flag, [] or [1], by name.

    A flag may be a float: `torch.Tensor([not initialized])`.
    """
    return {name: own for name, own in module.named_buffers() if _is_number(own)}


def _is_number(tensor: torch.Tensor) -> bool:
    if tensor.is_meta or not _is_single(tensor):
        return False
    return tensor.dtype in _READ or (tensor.dtype == torch.float32 and tensor.item() in {0, 1})


def _is_single(tensor: torch.Tensor) -> bool:
    shape = [*tensor.shape]
    return not shape or (len(shape) == 1 and type(shape[0]) is int and shape[0] == 1)


def _is_integer(tensor: torch.Tensor) -> bool:
    return tensor.dtype == torch.int64 and not tensor.dim() and not tensor.is_meta


@dataclass
class NumbersRead:
    """Whether a capture read a number that has no value in its graph."""

    any: bool = False


@contextmanager
def known_integers(tensors: Collection[torch.Tensor]) -> Iterator[NumbersRead]:
    """Let the numbers of these tensors, which `integers_of` returned, be known to torch.export."""
    read = NumbersRead()
    numbers = {id(tensor): _as_whole(tensor.item()) for tensor in tensors}
    make, dispatch = FakeTensorConverter.from_real_tensor, ProxyTorchDispatchMode.__torch_dispatch__

    def made(self: Any, mode: Any, tensor: Any, *args: Any, **options: Any) -> Any:  # noqa: ANN401
        fake = make(self, mode, tensor, *args, **options)
        if id(tensor) in numbers:
            _remember(fake, numbers[id(tensor)])
        return fake

    def dispatched(
        self: Any,  # noqa: ANN401
        func: Any,  # noqa: ANN401
        types: Any,  # noqa: ANN401
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401
        asks = func is _ATEN.is_nonzero.default
        if asks or (func in _ITEMS and args[0].dtype in _READ):
            number = _number(args[0])
            if number is not None:
                read.any = True
                return _unequal(number, 0) if asks else number
        result = dispatch(self, func, types, args, kwargs)
        if isinstance(result, FakeTensor) and result.dtype in _DTYPES and _is_single(result):
            # The mode records what is computed with sizes.
            with self:
                _remember(result, _result(func, args, kwargs or {}, result.dtype))
        return result

    with (
        patch.object(FakeTensorConverter, "from_real_tensor", made),
        patch.object(ProxyTorchDispatchMode, "__torch_dispatch__", dispatched),
    ):
        yield read


def _as_whole(number: Any) -> int:  # noqa: ANN401
    return number if isinstance(number, bool) else int(number)


def note_numbers(program: ExportedProgram) -> None:
    """Note that a program has the numbers of the module's integers instead of reading them."""
    program.graph_module.meta[_KNOWN] = True


def has_numbers(program: ExportedProgram) -> bool:
    """Return whether `note_numbers` noted that of a program."""
    return _KNOWN in program.graph_module.meta


def _result(
    func: Any,  # noqa: ANN401
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    dtype: torch.dtype,
) -> Any:  # noqa: ANN401
    """Return the number of what an operator returns in a dtype; None if it is not known."""
    if func in _CASTS:
        number = _number(args[0])
        return math.trunc(number) if dtype is torch.int64 and number is not None else number
    operands = [_number(one) for one in args] if func in _FUNCTIONS else [None]
    known = all(one is not None for one in operands)
    return _FUNCTIONS[func](*operands, **kwargs) if known else None


def _remember(tensor: FakeTensor, number: Any) -> None:  # noqa: ANN401
    setattr(tensor, _KNOWN, (number, tensor._version))  # noqa: SLF001


def _number(operand: Any) -> Any:  # noqa: ANN401
    """Return a number, a size, or the known number of a tensor []; None of anything else."""
    if isinstance(operand, torch.Tensor):
        return _number_of_tensor(operand)
    return operand if isinstance(operand, int | torch.SymInt) else None


def _number_of_tensor(tensor: torch.Tensor) -> Any:  # noqa: ANN401
    number, version = getattr(tensor, _KNOWN, (None, 0))
    if version == tensor._version and number is not None:  # noqa: SLF001
        return number
    # What no buffer and no input is, is no fake tensor before its first use.
    constant = tensor.constant if isinstance(tensor, FakeTensor) else tensor
    if constant is not None and _is_integer(constant):
        with no_dispatch():
            return constant.item()
    return None
