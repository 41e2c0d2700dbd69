"""What eager PyTorch computes of its tables: `normalize(weight)[ids]` reads a table of no state.

While the module runs once, each tensor that has a table's shape is compared with it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch

from modelexport_exporter.torch_internals.aten_mode import AtenMode
from modelexport_exporter.verification.samples.table_rows import ComparedTable, Distances

SECONDS = 1.0
"""Time for all of these comparisons."""


class EagerTables(AtenMode):
    """Compares what the ATen ops of a module are given, and return, with tables of a file."""

    def __init__(
        self,
        tables: Mapping[str, ComparedTable],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Compare with tables, by name."""
        super().__init__()
        self._tables = tables
        self.nearest: dict[str, Distances] = {}
        """The distances to the nearest tensor; of tables that resemble one."""
        self._clock = clock
        self._seconds = 0.0

    def on_op(self, func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:  # noqa: ANN401
        """Run the op, and compare its tensors."""
        for tensor in _tensors((args, *kwargs.values())):
            self._compare(tensor)
        result = func(*args, **kwargs)
        for tensor in _tensors(result):
            self._compare(tensor)
        return result

    def _compare(self, tensor: torch.Tensor) -> None:
        for name, table in self._tables.items():
            known = self.nearest.get(name)
            if (known is not None and not known.damaged) or not table.may_be(tensor):
                continue
            started = self._clock()
            if self._seconds < SECONDS:
                found = table.distances(tensor)
                if found is not None and found.is_nearer_than(known):
                    self.nearest[name] = found
            self._seconds += self._clock() - started


def _tensors(values: Any) -> Iterator[torch.Tensor]:  # noqa: ANN401
    """Yield the tensors of arguments or results, also those of lists."""
    if isinstance(values, torch.Tensor):
        yield values
    elif isinstance(values, list | tuple):
        for own in values:
            yield from _tensors(own)
