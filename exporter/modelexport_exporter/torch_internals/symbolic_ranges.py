"""`range(n)` of sizes, of which a tensor can be made.

Python's `range` asks its bounds for their numbers, so that `torch.tensor(range(n))` would hold the
size of the example. A range of as many numbers at all sizes, as `range(0, n, n)`, has sizes. One
of a number that depends on the size still has the example's numbers when it is iterated or indexed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.fx.experimental.symbolic_shapes import statically_known_true


class _RangeType(type):
    """`range` by another name: of sizes it makes a `SizeRange`."""

    def __call__(cls, *args: Any) -> Any:  # noqa: ANN401
        of_sizes = any(isinstance(one, torch.SymInt) for one in args)
        return super().__call__(*args) if of_sizes else range(*args)

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, range) or type(value) is cls


class SizeRange(dict[int, int], metaclass=_RangeType):
    """A range whose bounds may be symbolic.

    As an index, torch reads the numbers of a sequence before any mode sees the call, but not those
    of a dict.
    """

    def __init__(self, *bounds: Any) -> None:  # noqa: ANN401
        super().__init__()
        (self.stop,), self.start, self.step = bounds[-1:], 0, 1
        if len(bounds) > 1:
            self.start, self.stop, self.step = (*bounds, 1)[:3]

    def tensor(self, dtype: torch.dtype | None, device: Any) -> Tensor:  # noqa: ANN401
        """Return the numbers as a tensor [n], int64 unless another dtype is given."""
        end = torch.sym_max if self.step > 0 else torch.sym_min
        stop = end(self.start, self.stop)
        return torch.arange(self.start, stop, self.step, dtype=dtype or torch.int64, device=device)

    def _numbers(self) -> Sequence[int]:
        """Return the numbers, or sizes where there are as many at all sizes."""
        example = range(*(_example(one) for one in (self.start, self.stop, self.step)))
        rest = self.stop - self.start
        count = -(-rest // self.step)
        if example and statically_known_true(count == len(example)):
            return [self.start + place * self.step for place in range(len(example))]
        return range(int(self.start), int(self.stop), int(self.step))

    def __iter__(self) -> Iterator[int]:
        return iter(self._numbers())

    def __reversed__(self) -> Iterator[int]:
        return reversed(self._numbers())

    def __len__(self) -> int:
        return len(self._numbers())

    def __getitem__(self, place: Any) -> Any:  # noqa: ANN401
        return self._numbers()[place]

    def __contains__(self, number: object) -> bool:
        return number in self._numbers()


def _example(size: Any) -> int:  # noqa: ANN401
    """Return the size in the example."""
    hint = size.node.hint if isinstance(size, torch.SymInt) else size
    return int(size) if hint is None else int(hint)
