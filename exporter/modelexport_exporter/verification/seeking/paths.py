"""The path that a run of the model takes: the ops that it calls, and the constants passed to them.

A trace holds the numbers that Python computed in one run: `2 if n * m == 391 else 1` is another one
at few pairs of sizes, and `{391: 2}.get(n * m, 1)` is no branch at all. A run of eager PyTorch is
cheap, so it runs at many sizes and values, and those are compared whose path no compared run took.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch

from modelexport_exporter.torch_internals import pytree
from modelexport_exporter.torch_internals.aten_mode import AtenMode

MOST_CONSTANTS = 8
"""What takes more values than that in compared runs depends on sizes or values, as it should."""
LARGEST_LITERAL = 64
"""Elements of a tensor made from Python numbers that are constants, too."""


@dataclass(frozen=True)
class Path:
    """The ops of a run, each with the number of its constants, and the constants of all of them."""

    ops: tuple[tuple[str, int], ...]
    constants: tuple[Hashable, ...]


class RecordedPath(AtenMode):
    """Records the path of the run for which it is active."""

    def __init__(self) -> None:
        super().__init__()
        self._ops: list[tuple[str, int]] = []
        self._constants: list[Hashable] = []

    @property
    def path(self) -> Path:
        """Return the path so far."""
        return Path(tuple(self._ops), tuple(self._constants))

    def on_op(self, func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:  # noqa: ANN401
        """Note the op with its constants, and run it."""
        literal = func is torch.ops.aten.lift_fresh.default
        constants = list(_constants(pytree.tree_leaves((args, kwargs)), literal=literal))
        self._ops.append((str(func), len(constants)))
        self._constants += constants
        return func(*args, **kwargs)


def _constants(leaves: Collection[Any], *, literal: bool) -> Iterator[Hashable]:
    for leaf in leaves:
        if isinstance(leaf, torch.ScriptObject):  # packed weights, which cannot be compared
            yield None
        elif not isinstance(leaf, torch.Tensor):
            yield leaf if isinstance(leaf, Hashable) else None
        elif literal and leaf.numel() <= LARGEST_LITERAL:
            yield from leaf.reshape(-1).tolist()


class Paths:
    """The paths of the runs that were compared."""

    def __init__(self) -> None:
        self._known: dict[tuple[tuple[str, int], ...], list[set[Hashable]]] = {}

    def add(self, path: Path) -> None:
        """Add the path of a compared run."""
        known = self._known.setdefault(path.ops, [set() for _ in path.constants])
        for values, constant in zip(known, path.constants, strict=True):
            if len(values) < MOST_CONSTANTS:
                values.add(constant)

    def is_new(self, path: Path) -> bool:
        """Return whether a run took a path, or passed a constant, that no compared run did."""
        known = self._known.get(path.ops)
        return known is None or any(
            len(values) < MOST_CONSTANTS and constant not in values
            for values, constant in zip(known, path.constants, strict=True)
        )


class NewPaths:
    """A goal: runs that take a path which no compared run took."""

    is_open = True

    def __init__(self, paths: Paths) -> None:
        """Seek others than `paths`; what is found is added to them."""
        self._paths = paths
        self._recorded: RecordedPath | None = None

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Watch one run."""
        self._recorded = RecordedPath()
        with self._recorded:
            yield

    def reaches(self, outputs: Sequence[torch.Tensor]) -> bool:
        """Return whether the run that just ended took a new path."""
        if self._recorded is None or not self._paths.is_new(self._recorded.path):
            return False
        self._paths.add(self._recorded.path)
        return True
