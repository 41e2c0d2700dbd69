"""What samples have to reach before a verdict counts."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol

import torch

from modelexport_exporter.torch_internals.aten_mode import AtenMode, op_name
from modelexport_exporter.verification.seeking.branches import SidesTaken
from modelexport_exporter.verification.seeking.jumps import Jump, WatchedJumps


class Goal(Protocol):
    """Something that a run of the model may reach."""

    @property
    def is_open(self) -> bool:
        """Return whether something is still to be reached."""

    def watching(self) -> AbstractContextManager[object]:
        """Watch one run."""

    def reaches(self, outputs: Sequence[torch.Tensor]) -> bool:
        """Return whether the run that just ended reached something new."""


class Elements:
    """Outputs that have elements."""

    def __init__(self, positions: Collection[int]) -> None:
        """Seek elements for the outputs at these positions."""
        self.missing = set(positions)

    @property
    def is_open(self) -> bool:
        """Return whether an output never had elements."""
        return bool(self.missing)

    def watching(self) -> AbstractContextManager[object]:
        """Return a context that ends loops without end: the outputs are enough."""
        return WatchedJumps(limited=True)

    def reaches(self, outputs: Sequence[torch.Tensor]) -> bool:
        """Return whether one of them has elements for the first time."""
        found = {place for place in self.missing if outputs[place].numel()}
        self.missing -= found
        return bool(found)


class BothSides:
    """Branches that go both ways."""

    def __init__(self, sides: SidesTaken, branches: Collection[Jump]) -> None:
        """Seek the sides of these branches that no run took."""
        self._sides = sides
        self._branches = branches
        self._before = len(self.missing)

    @property
    def missing(self) -> list[Jump]:
        """Return the branches that always went the same way."""
        return [jump for jump in self._branches if not self._sides.took_both(jump)]

    @property
    def is_open(self) -> bool:
        """Return whether there is such a branch."""
        return bool(self.missing)

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Watch one run."""
        self._before = len(self.missing)
        with self._sides.watching(limited=True):
            yield

    def reaches(self, outputs: Sequence[torch.Tensor]) -> bool:
        """Return whether a branch went the other way."""
        return len(self.missing) < self._before


class DependsOnValues(AtenMode):
    """Finds out whether shapes of a module's outputs may depend on values."""

    def __init__(self) -> None:
        super().__init__()
        self.found = False

    def on_op(self, func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:  # noqa: ANN401
        """Note an op whose result's shape depends on values, or that reads a value."""
        foreign = func.namespace not in {"aten", "prim", "prims"}
        by_values = torch.Tag.dynamic_output_shape in func.tags
        reads = torch.Tag.data_dependent_output in func.tags or op_name(func) == "equal"
        self.found = self.found or foreign or by_values or reads
        return func(*args, **kwargs)
