"""Sizes that torch.export keeps symbolic: `s77` instead of 3."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import AbstractContextManager

import torch
from torch.fx.experimental import _config
from torch.utils._sympy.printers import PythonPrinter

_IDENTIFIER = re.compile(r"(?<![\w.])[A-Za-z_]\w*")

check = torch._check  # noqa: SLF001
"""State a fact about a size, so that torch.export need not guess it."""


def size_expression(size: object) -> str:
    """Return a symbolic size as torch writes it, `s77` or `2*s77`; a number for a constant."""
    return str(size.node.expr) if isinstance(size, torch.SymInt) else str(size)


def condition_of(asserted: object) -> tuple[str, tuple[str, ...]] | None:
    """Return a condition on sizes as Python, with its symbols; None for one that is known."""
    if not isinstance(asserted, torch.SymBool):
        return None
    expression = asserted.node.expr
    symbols = tuple(sorted(map(str, expression.free_symbols)))
    text = PythonPrinter().doprint(expression)
    return (text, symbols) if symbols else None


def rename_symbols(expression: str, names: Mapping[str, str]) -> str:
    """Return an expression such as `2*s77` with other names for its symbols."""
    return _IDENTIFIER.sub(lambda match: names.get(match.group(), match.group()), expression)


def treat_0_and_1_as_any_size() -> AbstractContextManager[None]:
    """Capture sizes 0 and 1 of the example like any other size, while the block runs."""
    return _config.patch(backed_size_oblivious=True)  # type: ignore[attr-defined, no-any-return]


def treat_equal_sizes_as_different() -> AbstractContextManager[None]:
    """Give sizes that are equal in the example symbols of their own, while the block runs."""
    return _config.patch(use_duck_shape=False)  # type: ignore[attr-defined, no-any-return]
