"""The inputs of an exported program, which states them: shapes, dims and their ranges."""

from __future__ import annotations

from typing import Any

import torch

from modelexport_api.spec import DType, InputKind
from modelexport_exporter.call.tensors import SPEC_DTYPES
from modelexport_exporter.inference.extents import LARGEST, Extent, Extents
from modelexport_exporter.inference.guess import Guess, Guesses

_SOURCE = "the exported program states it"


def program_extents(program: torch.export.ExportedProgram) -> Extents:
    """Return the inputs and dims that a program states."""
    placeholders = {node.name: node for node in program.graph.nodes if node.op == "placeholder"}
    inputs: list[Guess] = []
    sizes: dict[str, int] = {}
    symbols: dict[str, Any] = {}
    for name in program.graph_signature.user_inputs:
        if not isinstance(name, str) or name not in placeholders:
            continue
        value = placeholders[name].meta.get("val")
        if isinstance(value, torch.Tensor):
            axes = []
            for axis, size in enumerate(value.shape):
                text = _axis(name, axis, size, symbols)
                axes.append(text)
                if isinstance(size, int):
                    sizes[text] = size
            inputs.append(Guess(name, SPEC_DTYPES[value.dtype], tuple(axes)))
        elif isinstance(value, torch.SymInt):
            inputs.append(Guess(name, DType.INT64, (), InputKind.INT))
    extents = []
    for text, symbol in symbols.items():
        low, high = _limits(program, symbol)
        sizes[text] = min(max(low, 3), high)
        extents.append(Extent(text, low, high, 1, _SOURCE))
    guesses = Guesses(tuple(inputs), sizes, frozenset(sizes))
    return Extents(guesses, tuple(extents))


def _axis(name: str, axis: int, size: Any, symbols: dict[str, Any]) -> str:  # noqa: ANN401
    """Return the name of a size: a symbol, `2 * s0`, or the input and its axis for a constant."""
    if isinstance(size, int):
        return f"{name}.{axis}"
    expression = size.node.expr
    free = sorted(expression.free_symbols, key=str)
    if len(free) != 1:
        return f"{name}.{axis}"
    (symbol,) = free
    symbols[str(symbol)] = symbol
    if expression == symbol:
        return str(symbol)
    factor, offset = expression.coeff(symbol, 1), expression.coeff(symbol, 0)
    sign = "-" if int(offset) < 0 else "+"
    text = f"{int(factor)} * {symbol}" if int(factor) != 1 else str(symbol)
    return f"{text} {sign} {abs(int(offset))}" if int(offset) else text


def _limits(program: torch.export.ExportedProgram, symbol: Any) -> tuple[int, int]:  # noqa: ANN401
    found = program.range_constraints.get(symbol)
    low = int(found.lower) if found is not None else 1
    try:
        high = int(found.upper) if found is not None else LARGEST
    except (OverflowError, TypeError, ValueError):
        return max(low, 1), max(LARGEST, low)
    return max(low, 1), high if high < 2**31 - 1 else max(LARGEST, low)
