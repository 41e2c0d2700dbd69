"""`range(n)` of sizes, of which a tensor can be made.

Python's `range` asks its bounds for their numbers, so that `torch.tensor(range(n))` would hold the
size of the example. A range that is iterated or indexed still has the example's numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor


class _RangeType(type):
    """`range` by another name: of sizes it makes a `SizeRange`."""

    def __call__(cls, *args: Any) -> Any:  # noqa: ANN401
        of_sizes = any(isinstance(one, torch.SymInt) for one in args)
        return super().__call__(*args) if of_sizes else range(*args)

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, range) or type(value) is cls


class SizeRange(metaclass=_RangeType):
    """A range whose bounds may be symbolic."""

    def __init__(self, *bounds: Any) -> None:  # noqa: ANN401
        (self.stop,), self.start, self.step = bounds[-1:], 0, 1
        if len(bounds) > 1:
            self.start, self.stop, self.step = (*bounds, 1)[:3]

    def tensor(self, dtype: torch.dtype | None, device: Any) -> Tensor:  # noqa: ANN401
        """Return the numbers as a tensor [n], int64 unless another dtype is given."""
        end = torch.sym_max if self.step > 0 else torch.sym_min
        stop = end(self.start, self.stop)
        return torch.arange(self.start, stop, self.step, dtype=dtype or torch.int64, device=device)

    def _known(self) -> range:
        return range(int(self.start), int(self.stop), int(self.step))

    def __iter__(self) -> Iterator[int]:
        return iter(self._known())

    def __reversed__(self) -> Iterator[int]:
        return reversed(self._known())

    def __len__(self) -> int:
        return len(self._known())

    def __getitem__(self, place: Any) -> Any:  # noqa: ANN401
        return self._known()[place]

    def __contains__(self, number: object) -> bool:
        return number in self._known()
