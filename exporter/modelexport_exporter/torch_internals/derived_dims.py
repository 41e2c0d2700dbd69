"""torch.export's own account of sizes such as `n - 1`, which ends in a KeyError where min is 1."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from torch.fx.experimental.symbolic_shapes import DimConstraints


@contextmanager
def both_bounds_known() -> Iterator[None]:
    """Give what torch found of a size both bounds, of which it drops one that says nothing."""
    original = DimConstraints._process_derived_dim_roots  # noqa: SLF001

    def with_bounds(
        self: DimConstraints, results: dict[str, dict[str, Any]], dims: dict[str, Any]
    ) -> None:
        for name, found in results.items():
            if name in dims and ("min" in found or "max" in found):
                found.setdefault("min", dims[name].min)
                found.setdefault("max", dims[name].max)
        original(self, results, dims)

    with patch.object(DimConstraints, "_process_derived_dim_roots", with_bounds):
        yield
