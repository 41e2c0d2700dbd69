"""Sizes for which a captured graph does not hold: conditions that torch.export assumed.

Where forward compares sizes, torch.export keeps the side that its example took, and an assert that
the ONNX file loses. The conditions are evaluated over the declared dims; where one can fail, the
verification runs at sizes where it does: the assumption may be harmless (`n != 1` where a sum is
broadcast) or decide the result (`x * 2 if n == 50 else x - 1`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import torch
from torch.export import ExportedProgram

from modelexport_api.reasons import Reason
from modelexport_api.spec import Dim, ModelExportSpec
from modelexport_exporter.core.dims import in_spread_order
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.types import SizeGuard
from modelexport_exporter.diagnosis.operators.uses import source_line
from modelexport_exporter.torch_internals.symbolic_sizes import Read, condition_of, rename_symbols

MOST_EVALUATED = 20_000
"""Combinations of sizes at which a condition is evaluated."""
MOST_SIZES = 4
"""Combinations of sizes that a condition is verified at, of those where it fails."""


def find_size_guards(
    program: ExportedProgram,
    names: Mapping[str, str],
    spec: ModelExportSpec,
    code_dir: Path | None,
) -> tuple[SizeGuard, ...]:
    """Return the conditions of the program that some declared sizes do not fulfil.

    `names`: the declared names of dims, by the program's symbols.
    """
    found: dict[str, SizeGuard] = {}
    for condition in _conditions(program, names, code_dir):
        if condition.text not in found and (failing := _failing(condition, spec.dims)):
            found[condition.text] = SizeGuard(condition.text, condition.line, tuple(failing))
    return tuple(found.values())


def check_sizes_read(read: Read, names: Mapping[str, str], spec: ModelExportSpec) -> None:
    """Raise ExportFailure if a size that a translation read is another one for other dims."""
    for expression, (symbols, number) in read.items():
        if not all(symbol in names for symbol in symbols):
            continue
        dims = tuple(names[symbol] for symbol in symbols)
        condition = _Condition(f"({expression}) == {number!r}", symbols, dims, "")
        if failing := _failing(condition, spec.dims):
            size = rename_symbols(expression, dict(zip(symbols, dims, strict=True)))
            example = ", ".join(f"{name} = {value}" for name, value in failing[0].items())
            raise ExportFailure(
                Reason.DYNAMIC_DIM_SPECIALIZED,
                f"the translation of an operator makes {size} constant: it is {number} in the "
                f"graph, and another number at {example}",
                "Set export.exporter: TorchScript, or compute this size in forward with torch "
                "operators.",
            )


@dataclass(frozen=True)
class _Condition:
    """A condition on dims alone, as a Python expression of the program's symbols."""

    expression: str
    symbols: tuple[str, ...]
    dims: tuple[str, ...]
    line: str

    @property
    def text(self) -> str:
        """Return the condition with the declared names."""
        names = dict(zip(self.symbols, self.dims, strict=True))
        return rename_symbols(self.expression, names)

    def holds(self) -> Callable[..., bool]:
        """Return a function of the sizes of its dims, in order."""
        # torch's own printer wrote the text, from a condition of the program.
        code = f"lambda {', '.join(self.symbols)}: {self.expression}"
        function: Callable[..., bool] = eval(code, {"math": math, "torch": torch})  # noqa: S307
        return function


def _conditions(
    program: ExportedProgram, names: Mapping[str, str], code_dir: Path | None
) -> Iterator[_Condition]:
    for node in program.graph.nodes:
        if node.target is not torch.ops.aten._assert_scalar.default:  # noqa: SLF001
            continue
        asserted = node.args[0].meta.get("val") if isinstance(node.args[0], torch.fx.Node) else None
        found = condition_of(asserted)
        # A condition on values raises in eager, too.
        if found is not None and all(symbol in names for symbol in found[1]):
            line = source_line(str(node.meta.get("stack_trace") or ""), code_dir)
            yield _Condition(*found, tuple(names[symbol] for symbol in found[1]), line)


def _failing(condition: _Condition, dims: Mapping[str, Dim]) -> list[dict[str, int]]:
    """Return sizes that do not fulfil the condition: the smallest, the largest, and others."""
    holds = condition.holds()
    each = max(2, int(MOST_EVALUATED ** (1 / max(len(condition.dims), 1))))
    sizes = [in_spread_order(dims[name])[:each] for name in condition.dims]
    failing = [
        dict(zip(condition.dims, chosen, strict=True))
        for chosen in product(*sizes)
        if not holds(*chosen)
    ]
    failing.sort(key=lambda found: math.prod(found.values()))
    if len(failing) <= MOST_SIZES:
        return failing
    last = len(failing) - 1
    return [failing[last * place // (MOST_SIZES - 1)] for place in range(MOST_SIZES)]
