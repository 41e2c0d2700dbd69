"""Sizes of an input that follow from a dim: `n`, `n - 1`, `2 * n + 1`: pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

FORM = r"^([1-9][0-9]{0,8} ?[*] ?)?[A-Za-z_][A-Za-z0-9_]*( ?[+-] ?[1-9][0-9]{0,8})?$"
_PARTS = re.compile(r"(?:(\d+) ?\* ?)?([A-Za-z_]\w*)(?: ?([+-]) ?(\d+))?", re.ASCII)


@dataclass(frozen=True)
class DimExpression:
    """`factor * dim + offset`."""

    dim: str
    factor: int = 1
    offset: int = 0

    @staticmethod
    @lru_cache(1024)
    def parse(text: str) -> DimExpression:
        """Return the expression that an entry of `shape` is. Raises ValueError for other text."""
        found = _PARTS.fullmatch(text)
        if found is None:
            msg = f"{text!r} is no name of a dim, and no expression such as n - 1 or 2 * n"
            raise ValueError(msg)
        factor, dim, sign, offset = found.groups()
        return DimExpression(dim, int(factor or 1), int(f"{sign or ''}{offset or 0}"))

    @property
    def is_plain(self) -> bool:
        """Return whether it is the dim itself."""
        return self.factor == 1 and not self.offset

    def __str__(self) -> str:
        """Return `n - 1`, as a manifest writes it."""
        factor = f"{self.factor} * " if self.factor != 1 else ""
        sign = "-" if self.offset < 0 else "+"
        return f"{factor}{self.dim}" + (f" {sign} {abs(self.offset)}" if self.offset else "")

    def solved_for(self, other: DimExpression) -> DimExpression | None:
        """Return what the dim of `other` is where both are equal; None if it is no expression.

        `n` is `s + 1` where s is `n - 1`.
        """
        factor, rest = divmod(self.factor, other.factor)
        offset, more = divmod(self.offset - other.offset, other.factor)
        return None if rest or more else DimExpression(self.dim, factor, offset)

    def at(self, size: int) -> int:
        """Return its size where the dim has this one."""
        return self.factor * size + self.offset

    def dim_at(self, size: int) -> int | None:
        """Return the size of the dim where the expression has this one; None if there is none."""
        found, rest = divmod(size - self.offset, self.factor)
        return None if rest else found


def dim_of(size: str) -> str:
    """Return the name of the dim that an entry of `shape` follows from."""
    return DimExpression.parse(size).dim


def is_derived(size: int | str) -> bool:
    """Return whether an entry of `shape` is an expression, neither a number nor a plain name."""
    return isinstance(size, str) and not DimExpression.parse(size).is_plain


def is_same_size(one: int | str, other: int | str) -> bool:
    """Return whether two sizes are the same, however they are written: `2*n`, `2 * n`."""
    return str(one).replace(" ", "") == str(other).replace(" ", "")


def size_at(size: int | str, sizes: Mapping[str, int]) -> int:
    """Return what an entry of `shape` is, where the dims have these sizes."""
    if isinstance(size, int):
        return size
    found = DimExpression.parse(size)
    return found.at(sizes[found.dim])
