"""Whether a function of the model's code tests a number of Python for NaN.

`if v != v` and `math.isnan(v)` call no operator of torch, which `treatment_of_nan` looks for.
"""

from __future__ import annotations

import dis
from itertools import pairwise
from types import CodeType

_NAMES = frozenset({"isnan", "isfinite", "nan_to_num"})
_LOADING = ("LOAD_FAST", "LOAD_DEREF", "LOAD_NAME", "LOAD_GLOBAL")
_COMPARING = "COMPARE_OP"


def tests_for_nan(code: CodeType) -> bool:
    """Return whether a function calls isnan or its kin, or compares a variable with itself."""
    if not _NAMES.isdisjoint(code.co_names):
        return True
    loaded: list[object] = []
    for one, following in pairwise(dis.get_instructions(code)):
        if not one.opname.startswith(_LOADING):
            loaded.clear()
            continue
        loaded += one.argval if isinstance(one.argval, tuple) else (one.argval,)
        if following.opname == _COMPARING and len(loaded) > 1 and loaded[-1] == loaded[-2]:
            return True
    return False
