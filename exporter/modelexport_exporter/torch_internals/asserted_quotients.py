"""Quotients of sizes in the conditions that torch.export leaves to the runtime.

`min(1.0, 32 / n)` leaves one. torch writes it into the graph by sympy's `IntTrueDiv`, which asks
whether the divisor is 0, and a node of the graph has no truth.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from torch.fx import Proxy
from torch.utils._sympy.reference import PythonReferenceAnalysis

_of_sympy = PythonReferenceAnalysis.int_truediv


def _quotient(a: Any, b: Any) -> Any:  # noqa: ANN401
    if isinstance(a, Proxy) or isinstance(b, Proxy):
        return a / b
    return _of_sympy(a, b)  # type: ignore[no-untyped-call]


@contextmanager
def quotients_are_asserted() -> Iterator[None]:
    """Let torch.export write conditions on quotients of sizes into its graphs."""
    with patch.object(PythonReferenceAnalysis, "int_truediv", staticmethod(_quotient)):
        yield
