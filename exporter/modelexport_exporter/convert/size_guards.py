"""Sizes for which a captured graph does not hold: conditions that torch.export assumed.

Where forward compares sizes, torch.export keeps the side that its example took, and an assert that
the ONNX file loses. The conditions are evaluated over the declared dims; where one can fail, the
verification runs at sizes where it does: the assumption may be harmless (`n != 1` where a sum is
broadcast) or decide the result (`x * 2 if n == 50 else x - 1`).
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch.export import ExportedProgram

from modelexport_api.reasons import Reason
from modelexport_api.sizes import dims_of, is_derived
from modelexport_api.spec import Dim, ModelExportSpec
from modelexport_exporter.convert.failing_sizes import failing_sizes
from modelexport_exporter.convert.size_expressions import FUNCTIONS
from modelexport_exporter.core.dims import in_spread_order
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.types import SizeGuard
from modelexport_exporter.diagnosis.operators.uses import source_line
from modelexport_exporter.torch_internals.symbolic_sizes import (
    Deferred,
    Read,
    condition_of,
    rename_symbols,
)

MOST_SIZES = 4
"""Combinations of sizes that a condition is verified at, of those where it fails."""
MOST_OTHERS = 2048
"""The same at which eager PyTorch runs: the other side may have branches of its own."""


def find_size_guards(
    conditions: Sequence[Condition], spec: ModelExportSpec
) -> tuple[SizeGuard, ...]:
    """Return the conditions that some declared sizes do not fulfil."""
    found: dict[str, SizeGuard] = {}
    for condition in conditions:
        if condition.text not in found and (failing := failing_at(condition, spec.dims)):
            found[condition.text] = guard_of(condition, failing)
    return tuple(found.values())


def check_sizes_read(read: Read, names: Mapping[str, str], spec: ModelExportSpec) -> None:
    """Raise ExportFailure if a size that a translation read is another one for other dims."""
    for condition in conditions_read(read, names):
        if failing := failing_at(condition, spec.dims):
            example = ", ".join(f"{name} = {value}" for name, value in failing[0].items())
            raise ExportFailure(
                Reason.DYNAMIC_DIM_SPECIALIZED,
                f"the translation of an operator makes a size constant: {condition.text} in the "
                f"graph, and not at {example}",
                "Compute this size in forward with torch operators.",
            )


def conditions_read(read: Read, names: Mapping[str, str]) -> Iterator[Condition]:
    """Yield the conditions that sizes are the numbers that a translation read."""
    for expression, (symbols, number) in read.items():
        if all(symbol in names for symbol in symbols):
            yield Condition.of(f"({expression}) == {number!r}", symbols, names)


@dataclass(frozen=True)
class Condition:
    """A condition on dims alone, as a Python expression of the program's symbols."""

    expression: str
    symbols: tuple[str, ...]
    dims: tuple[str, ...]
    line: str

    @staticmethod
    def of(
        expression: str, symbols: Sequence[str], names: Mapping[str, str], line: str = ""
    ) -> Condition:
        """Return a condition of symbols that have these names; `n - 1` is written out."""
        dims = tuple(names[symbol] for symbol in symbols)
        if any(is_derived(dim) for dim in dims):
            expression = rename_symbols(expression, dict(zip(symbols, dims, strict=True)))
            dims = symbols = tuple(dict.fromkeys(name for dim in dims for name in dims_of(dim)))
        return Condition(expression, tuple(symbols), dims, line)

    @staticmethod
    def on_dims(text: str) -> Condition:
        """Return a condition whose symbols are the declared names."""
        nodes = ast.walk(ast.parse(text))
        found = dict.fromkeys(node.id for node in nodes if isinstance(node, ast.Name))
        names = tuple(name for name in found if name not in FUNCTIONS)
        return Condition(text, names, names, "")

    @property
    def text(self) -> str:
        """Return the condition with the declared names."""
        names = dict(zip(self.symbols, self.dims, strict=True))
        return rename_symbols(self.expression, names)


def conditions_of(
    program: ExportedProgram,
    names: Mapping[str, str],
    code_dir: Path | None,
    deferred: Sequence[Deferred],
) -> Iterator[Condition]:
    """Yield the conditions on dims that a program assumes.

    torch.export writes no assert into the graph where one condition computes with floats, such as
    `h / w < 1.77`: `deferred` has all of them. `names`: the declared names of dims, by the
    program's symbols.
    """
    for found, stack in deferred:
        if all(symbol in names for symbol in found[1]):
            line = source_line(stack, code_dir)
            yield Condition.of(*found, names, line)
    for node in program.graph.nodes:
        if node.target is not torch.ops.aten._assert_scalar.default:  # noqa: SLF001
            continue
        asserted = node.args[0].meta.get("val") if isinstance(node.args[0], torch.fx.Node) else None
        stated = condition_of(asserted)
        # A condition on values raises in eager, too.
        if stated is not None and all(symbol in names for symbol in stated[1]):
            line = source_line(str(node.meta.get("stack_trace") or ""), code_dir)
            yield Condition.of(*stated, names, line)


def guard_of(condition: Condition, failing: Sequence[dict[str, int]]) -> SizeGuard:
    """Return the guard of a condition that does not hold at these sizes."""
    compared = tuple(spread(failing, MOST_SIZES))
    return SizeGuard(condition.text, condition.line, compared, tuple(spread(failing, MOST_OTHERS)))


def failing_at(condition: Condition, dims: Mapping[str, Dim]) -> list[dict[str, int]]:
    """Return sizes that do not fulfil the condition, the smallest first."""
    sizes = [in_spread_order(dims[name]) for name in condition.dims]
    found = failing_sizes(condition.expression, condition.symbols, sizes)
    found.sort(key=math.prod)
    return [dict(zip(condition.dims, chosen, strict=True)) for chosen in found]


def spread(sizes: Sequence[dict[str, int]], most: int) -> Iterator[dict[str, int]]:
    """Yield the first, the last, and others between them."""
    last = len(sizes) - 1
    for place in range(min(most, len(sizes))):
        yield sizes[place if last < most else last * place // (most - 1)]
