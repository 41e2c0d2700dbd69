"""Bits of sizes as arithmetic: `(n | 3) + 1` is the next multiple of four above n.

torch knows nothing about `n | 3`, not even that it equals itself, and takes wrong conditions on it
for true. With the lowest bits as a mask, it is arithmetic, also of negative numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import torch

Method = Callable[[torch.SymInt, Any], Any]


def _modulus(mask: object) -> int | None:
    """Return 2^k for the mask of the k lowest bits."""
    is_mask = type(mask) is int and mask >= 0 and not mask & (mask + 1)
    return mask + 1 if is_mask else None  # type: ignore[operator]


def _and(size: torch.SymInt, mask: Any) -> Any:  # noqa: ANN401
    if modulus := _modulus(mask):
        return size % modulus
    if type(mask) is int and (modulus := _modulus(~mask)):
        return size - size % modulus
    return NotImplemented


def _or(size: torch.SymInt, mask: Any) -> Any:  # noqa: ANN401
    modulus = _modulus(mask)
    return size - size % modulus + mask if modulus else NotImplemented


def _xor(size: torch.SymInt, mask: Any) -> Any:  # noqa: ANN401
    modulus = _modulus(mask)
    return size - 2 * (size % modulus) + mask if modulus else NotImplemented


def _left(size: torch.SymInt, bits: Any) -> Any:  # noqa: ANN401
    return size * 2**bits if type(bits) is int and bits >= 0 else NotImplemented


def _right(size: torch.SymInt, bits: Any) -> Any:  # noqa: ANN401
    return size // 2**bits if type(bits) is int and bits >= 0 else NotImplemented


def _method(name: str, arithmetic: Method) -> Method:
    """Return a method that uses torch's own for other masks."""
    own: Method = getattr(torch.SymInt, name)

    @wraps(own)
    def method(size: torch.SymInt, other: Any) -> Any:  # noqa: ANN401
        result = arithmetic(size, other)
        return own(size, other) if result is NotImplemented else result

    return method


METHODS = {
    name: _method(name, arithmetic)
    for name, arithmetic in {
        "__and__": _and,
        "__rand__": _and,
        "__or__": _or,
        "__ror__": _or,
        "__xor__": _xor,
        "__rxor__": _xor,
        "__lshift__": _left,
        "__rshift__": _right,
    }.items()
}
"""The methods of torch.SymInt, by name."""
