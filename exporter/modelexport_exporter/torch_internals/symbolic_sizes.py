"""Sizes that torch.export keeps symbolic: `s77` instead of 3."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import sympy
import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.fx.experimental import _config
from torch.fx.experimental.sym_node import SymNode
from torch.utils._sympy.printers import PythonPrinter

_IDENTIFIER = re.compile(r"(?<![\w.])[A-Za-z_]\w*")

check = torch._check  # noqa: SLF001
"""State a fact about a size, so that torch.export need not guess it."""


def size_expression(size: object) -> str:
    """Return a symbolic size as torch writes it, `s77` or `2*s77`; a number for a constant."""
    return str(size.node.expr) if isinstance(size, torch.SymInt) else str(size)


def may_be_negative(size: int | torch.SymInt) -> bool:
    """Return whether an integer made of sizes is below zero for some of them."""
    if not isinstance(size, torch.SymInt):
        return size < 0
    environment = size.node.shape_env
    return environment is None or bool(environment.bound_sympy(size.node.expr).lower < 0)


def largest(size: torch.SymInt) -> int | None:
    """Return an integer that a size never exceeds, None if there is none."""
    environment = size.node.shape_env
    upper = None if environment is None else environment.bound_sympy(size.node.expr).upper
    return int(upper) if isinstance(upper, sympy.Integer) else None


def bounds_of(size: torch.SymInt) -> tuple[int, int | None]:
    """Return the smallest size, at least 0, and the largest, None if it has no bound."""
    environment = size.node.shape_env
    bounds = None if environment is None else environment.bound_sympy(size.node.expr)
    lower = None if bounds is None else bounds.lower
    return max(int(lower), 0) if isinstance(lower, sympy.Integer) else 0, largest(size)


def condition_of(asserted: object) -> tuple[str, tuple[str, ...]] | None:
    """Return a condition on sizes as Python, with its symbols; None for one that is known."""
    return as_python(asserted.node.expr) if isinstance(asserted, torch.SymBool) else None


Deferred = tuple[tuple[str, tuple[str, ...]], str]
"""A condition as Python with its symbols, and the stack trace of its line."""


def deferred_conditions(program: torch.export.ExportedProgram) -> Iterator[Deferred]:
    """Yield the conditions on sizes that a capture assumed, each with its stack trace.

    A program that was loaded from an archive has none.
    """
    fakes = (node.meta.get("val") for node in program.graph.nodes if node.op == "placeholder")
    environments = {
        id(fake.fake_mode.shape_env): fake.fake_mode.shape_env
        for fake in fakes
        if isinstance(fake, FakeTensor) and fake.fake_mode.shape_env is not None
    }
    for environment in environments.values():
        for deferred in environment.deferred_runtime_asserts.get(None, ()):
            if found := as_python(deferred.expr):
                stack: Any = deferred.stack
                yield found, "".join(stack.format())


def as_python(expression: Any) -> tuple[str, tuple[str, ...]] | None:  # noqa: ANN401
    """Return a condition on sizes as Python, with its symbols; None for one without."""
    symbols = tuple(sorted(map(str, expression.free_symbols)))
    text = PythonPrinter().doprint(expression).replace("torch._sym_sqrt(", "math.sqrt(")
    return (text, symbols) if symbols else None


def sizes_of_symbols(environment: Any, symbols: Iterable[Any]) -> dict[Any, range] | None:  # noqa: ANN401
    """Return the sizes that each symbol may be; None where one has no bounds."""
    found = {}
    for symbol in symbols:
        bounds = environment.var_to_range.get(symbol)
        if bounds is None or not all(
            isinstance(bound, sympy.Integer) for bound in (bounds.lower, bounds.upper)
        ):
            return None
        found[symbol] = range(int(bounds.lower), int(bounds.upper) + 1)
    return found


def rename_symbols(expression: str, names: Mapping[str, str]) -> str:
    """Return an expression such as `2*s77` with other names for its symbols."""

    def renamed(match: re.Match[str]) -> str:
        name = names.get(match.group(), match.group())
        return name if name.isidentifier() else f"({name})"

    return _IDENTIFIER.sub(renamed, expression)


def rename_size(expression: str, names: Mapping[str, str]) -> str:
    """Return the same for a size, short where a name is an expression: `n` for `(n - 1) + 1`."""
    text = rename_symbols(expression, names)
    if all(name.isidentifier() for name in names.values()):
        return text
    try:
        return str(sympy.sympify(text))
    except (sympy.SympifyError, TypeError, AttributeError):
        return text


def treat_0_and_1_as_any_size() -> AbstractContextManager[None]:
    """Capture sizes 0 and 1 of the example like any other size, while the block runs."""
    return _config.patch(backed_size_oblivious=True)  # type: ignore[attr-defined, no-any-return]


def treat_equal_sizes_as_different() -> AbstractContextManager[None]:
    """Give sizes that are equal in the example symbols of their own, while the block runs."""
    return _config.patch(use_duck_shape=False)  # type: ignore[attr-defined, no-any-return]


Read = dict[str, tuple[tuple[str, ...], int | float]]
"""Expressions of sizes as Python, each with its symbols and the number that was read."""


@contextmanager
def sizes_read_as_numbers() -> Iterator[Read]:
    """Yield the sizes that Python reads as an `int` or `float` while the block runs.

    A graph that is complete takes no further condition on its sizes: such a number is that of the
    example, and becomes a constant. What torch reads to infer the shape of a result (it unrolls an
    LSTM for that) stays out of the graph.
    """
    read: Read = {}
    inferring = 0

    def recorded(own: Callable[..., Any]) -> Callable[..., Any]:
        def guard(node: Any, *where: Any) -> Any:  # noqa: ANN401
            number = own(node, *where)
            symbols = tuple(sorted(map(str, node.expr.free_symbols)))
            if symbols and not inferring:
                read[PythonPrinter().doprint(node.expr)] = symbols, number
            return number

        return guard

    def inferred(mode: FakeTensorMode, *call: Any) -> Any:  # noqa: ANN401
        nonlocal inferring
        inferring += 1
        try:
            return own_dispatch(mode, *call)
        finally:
            inferring -= 1

    own_int, own_float = SymNode.guard_int, SymNode.guard_float
    own_dispatch = FakeTensorMode.dispatch
    FakeTensorMode.dispatch = inferred  # type: ignore[method-assign, assignment]
    SymNode.guard_int, SymNode.guard_float = recorded(own_int), recorded(own_float)  # type: ignore[method-assign]
    try:
        yield read
    finally:
        SymNode.guard_int, SymNode.guard_float = own_int, own_float  # type: ignore[method-assign]
        FakeTensorMode.dispatch = own_dispatch  # type: ignore[method-assign]


@contextmanager
def sizes_written_as_text(is_models: Callable[[str], bool]) -> Iterator[list[str]]:
    """Yield the symbols that the model's code writes as text while the block runs.

    `f"{n}" == "50"` compares `s77`, and no guard says so. torch itself writes symbols as text, too:
    `is_models` decides by the file of the code that does.
    """
    texts: list[str] = []
    own = {kind: kind.__repr__ for kind in (torch.SymInt, torch.SymFloat, torch.SymBool)}

    def noted(write: Callable[[Any], str]) -> Callable[[Any], str]:
        def text_of(symbol: Any) -> str:  # noqa: ANN401
            text = write(symbol)
            if is_models(sys._getframe(1).f_code.co_filename):  # noqa: SLF001 - who asks
                texts.append(text)
            return text

        return text_of

    for kind, write in own.items():
        kind.__repr__ = noted(write)  # type: ignore[method-assign]
    try:
        yield texts
    finally:
        for kind, write in own.items():
            kind.__repr__ = write  # type: ignore[method-assign]
