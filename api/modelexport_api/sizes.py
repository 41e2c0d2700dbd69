"""Sizes of an input that follow from dims: `n`, `n - 1`, `2 * n + 1`, `past + tokens`: pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

_NAME = "[A-Za-z_][A-Za-z0-9_]*"
FORM = rf"^([1-9][0-9]{{0,8}} ?[*] ?)?{_NAME}( ?[+] ?{_NAME})*( ?[+-] ?[1-9][0-9]{{0,8}})?$"
_PARTS = re.compile(rf"(?:(\d+) ?\* ?)?({_NAME}(?: ?\+ ?{_NAME})*)(?: ?([+-]) ?(\d+))?", re.ASCII)


@dataclass(frozen=True)
class DimExpression:
    """`factor * dim + others + offset`."""

    dim: str
    factor: int = 1
    offset: int = 0
    others: tuple[str, ...] = ()
    """Dims that are added."""

    @staticmethod
    @lru_cache(1024)
    def parse(text: str) -> DimExpression:
        """Return the expression that an entry of `shape` is. Raises ValueError for other text."""
        found = _PARTS.fullmatch(text)
        if found is None:
            msg = f"{text!r} is no name of a dim, and no expression such as n - 1, 2 * n or p + t"
            raise ValueError(msg)
        factor, names, sign, offset = found.groups()
        dim, *others = re.findall(_NAME, names)
        return DimExpression(dim, int(factor or 1), int(f"{sign or ''}{offset or 0}"), (*others,))

    @property
    def dims(self) -> tuple[str, ...]:
        """Return the names of its dims, each once."""
        return tuple(dict.fromkeys((self.dim, *self.others)))

    @property
    def is_plain(self) -> bool:
        """Return whether it is the dim itself."""
        return self.factor == 1 and not self.offset and not self.others

    @property
    def is_sum(self) -> bool:
        """Return whether it has several dims."""
        return len(self.dims) > 1

    def __str__(self) -> str:
        """Return `n - 1`, as a manifest writes it."""
        factor = f"{self.factor} * " if self.factor != 1 else ""
        sign = "-" if self.offset < 0 else "+"
        names = " + ".join((self.dim, *self.others))
        return f"{factor}{names}" + (f" {sign} {abs(self.offset)}" if self.offset else "")

    def solved_for(self, other: DimExpression) -> DimExpression | None:
        """Return what the dim of `other` is where both are equal; None if it is no expression.

        `n` is `s + 1` where s is `n - 1`.
        """
        if other.others or (self.others and other.factor != 1):
            return None
        factor, rest = divmod(self.factor, other.factor)
        offset, more = divmod(self.offset - other.offset, other.factor)
        return None if rest or more else DimExpression(self.dim, factor, offset, self.others)

    def with_sizes(self, sizes: Mapping[str, int]) -> DimExpression | int:
        """Return what it is where some of its dims have these sizes: `t + 4` of `p + t`."""
        weights = self._weights()
        known = [name for name in weights if name in sizes]
        offset = self.offset + sum(weights.pop(name) * sizes[name] for name in known)
        if not weights:
            return offset
        dim, *others = weights
        repeated = tuple(name for name in others for _ in range(weights[name]))
        return DimExpression(dim, weights[dim], offset, repeated)

    def at(self, sizes: Mapping[str, int]) -> int:
        """Return its size where the dims have these."""
        added = sum(sizes[name] for name in self.others)
        return self.factor * sizes[self.dim] + added + self.offset

    def solved_at(self, size: int, known: Mapping[str, int]) -> tuple[str, int] | None:
        """Return the one dim that is not known, and its size where the expression has this one.

        None if all are known, several are not, or no whole number solves it.
        """
        left = self.with_sizes(known)
        if isinstance(left, int) or left.is_sum:
            return None
        found, rest = divmod(size - left.offset, left.factor)
        return None if rest else (left.dim, found)

    def is_same(self, other: DimExpression) -> bool:
        """Return whether both are equal at all sizes, however they are written."""
        return self._weights() == other._weights() and self.offset == other.offset

    def _weights(self) -> dict[str, int]:
        found = {self.dim: self.factor}
        for name in self.others:
            found[name] = found.get(name, 0) + 1
        return found


def dims_of(size: int | str) -> tuple[str, ...]:
    """Return the names of the dims that an entry of `shape` follows from; none of a number."""
    return DimExpression.parse(size).dims if isinstance(size, str) else ()


def dims_of_shapes(shapes: Iterable[Iterable[int | str]]) -> list[str]:
    """Return the names of the dims in shapes, each once, in the order of their first use."""
    names = (name for shape in shapes for size in shape for name in dims_of(size))
    return list(dict.fromkeys(names))


def is_derived(size: int | str) -> bool:
    """Return whether an entry of `shape` is an expression, neither a number nor a plain name."""
    return isinstance(size, str) and not DimExpression.parse(size).is_plain


def is_same_size(one: int | str, other: int | str) -> bool:
    """Return whether two sizes are the same, however they are written: `2*n`, `p + t`, `t+p`.

    Other text, such as a file's own names of dims, is compared as it is.
    """
    if isinstance(one, str) and isinstance(other, str):
        try:
            return DimExpression.parse(one).is_same(DimExpression.parse(other))
        except ValueError:
            pass
    return str(one).replace(" ", "") == str(other).replace(" ", "")


def size_at(size: int | str, sizes: Mapping[str, int]) -> int:
    """Return what an entry of `shape` is, where the dims have these sizes."""
    return size if isinstance(size, int) else DimExpression.parse(size).at(sizes)
