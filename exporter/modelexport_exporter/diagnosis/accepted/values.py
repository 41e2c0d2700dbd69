"""Which values of an input forward accepts, after it refused some: found by calls, pure.

The arrays of the refused call are changed one input at a time: without NaN and infinity, clipped
from above, from below, masks with at least one true, or false, in each row, and ones of another
dtype.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modelexport_exporter.diagnosis.accepted.limits import Limit

Array = NDArray[Any]
Arrays = Mapping[str, Array]
Accepts = Callable[[Arrays], bool]

_HALVINGS = 40
_STEPS = 8
_DTYPES = ("int64", "float32", "bool", "float64", "float16")
_DIGITS = 3
"""Of a bound between floating-point numbers."""


def limits_of_values(
    accepts: Accepts, refused: Arrays, ranges: Mapping[str, Sequence[float]]
) -> list[Limit]:
    """Return a bound of one input within which the same call is accepted; empty if none is found.

    `ranges`: those that inputs declare. `accepts` may raise to end the search.
    """
    for name, array in refused.items():

        def takes(one: Array, name: str = name) -> bool:
            return accepts({**refused, name: one})

        found = _limit(name, array, takes, ranges.get(name)) if array.size else None
        if found is not None:
            return [found]
    return []


def _limit(
    name: str, array: Array, accepts: Callable[[Array], bool], declared: Sequence[float] | None
) -> Limit | None:
    return _of_values(name, array, accepts, declared) or _of_dtypes(name, array, accepts)


def _of_dtypes(name: str, array: Array, accepts: Callable[[Array], bool]) -> Limit | None:
    """Return another dtype that is accepted, where ones of its own are not."""
    if accepts(np.ones_like(array)):
        return None
    for dtype in _DTYPES:
        if dtype != array.dtype and accepts(np.ones_like(array, np.dtype(dtype))):
            return Limit(f"{name} of type {dtype}", f"Set dtype: {dtype} for input {name}.")
    return None


def _of_values(
    name: str, array: Array, accepts: Callable[[Array], bool], declared: Sequence[float] | None
) -> Limit | None:
    if array.ndim and array.dtype.kind in "bi" and np.isin(array, (0, 1)).all():
        mask = _of_masks(name, array, accepts)
        if mask is not None or array.dtype == np.bool_:
            return mask
    finite = np.isfinite(array)
    if not finite.all():
        without = accepts(np.where(finite, array, np.zeros_like(array)))
        advice = f"Declare range for input {name}."
        return Limit(f"{name} without NaN and infinity", advice) if without else None
    low, high = declared or (array.min().item(), array.max().item())
    for upper in (True, False):
        bound = _Bound(low, high, upper=upper).search(array, accepts)
        if bound is not None:
            side = f"up to {_text(bound)}" if upper else f"from {_text(bound)} on"
            low, high = (low, bound) if upper else (bound, high)
            limits = f"[{_text(low)}, {_text(high)}]"
            return Limit(f"{name} {side}", f"Set range: {limits} for input {name}.")
    return None


def _text(number: float) -> str:
    return str(int(number)) if float(number).is_integer() else f"{number:.9g}"


def _of_masks(name: str, array: Array, accepts: Callable[[Array], bool]) -> Limit | None:
    """Return what each row of a mask has to hold; None if that does not help."""
    for kept, what, kind in ((True, "true", "AttentionMask"), (False, "false", "PaddingMask")):
        mask = array.copy()
        mask[..., :1] = kept
        if not (mask == kept).all() and accepts(mask):
            element = what if array.dtype == np.bool_ else str(int(kept))
            return Limit(
                f"a {element} in each row of {name}", f"Set kind: {kind} for input {name}."
            )
    return None


@dataclass(frozen=True)
class _Bound:
    """A search for the largest, or smallest, value that is accepted, between two others."""

    low: float
    high: float
    upper: bool

    def search(self, array: Array, accepts: Callable[[Array], bool]) -> float | None:
        """Return the bound; None if no clipped array is accepted."""
        whole = bool(np.issubdtype(array.dtype, np.integer))

        def takes(bound: float) -> bool:
            limits = (None, bound) if self.upper else (bound, None)
            return accepts(np.asarray(np.clip(array, *limits), array.dtype))

        accepted = self._first(takes, whole=whole)
        if accepted is None:
            return None
        refused = array.max().item() if self.upper else array.min().item()
        for _ in range(_HALVINGS):
            middle = (accepted + refused) / 2
            if whole:
                middle = math.floor(middle) if self.upper else math.ceil(middle)
            if middle in {accepted, refused}:
                break
            accepted, refused = (middle, refused) if takes(middle) else (accepted, middle)
        return accepted if whole else self._rounded(accepted, takes)

    def _first(self, takes: Callable[[float], bool], *, whole: bool) -> float | None:
        """Return some bound that is accepted: round ones first, then ever nearer to the end."""
        refused, end = (self.high, self.low) if self.upper else (self.low, self.high)
        span = end - refused
        nearer = [refused + span * (1 - 0.5**step) for step in range(1, _STEPS)]
        ordered = [0, 1, -1, *(map(round, nearer) if whole else nearer), end]
        within = [value for value in ordered if self.low <= value <= self.high]
        return next((value for value in within if value != refused and takes(value)), None)

    def _rounded(self, bound: float, takes: Callable[[float], bool]) -> float:
        """Return the bound with few digits, where that is accepted, too."""
        short = float(f"{bound:.{_DIGITS}g}")
        return short if abs(bound - short) <= abs(bound) * 1e-2 and takes(short) else bound
