"""The section on the graph: operators by count, and the tree of modules. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from modelexport_exporter.report import text
from modelexport_exporter.report.plots import share_of_largest
from modelexport_exporter.report.report import GraphModule, Report

MOST_OPERATORS = 16
"""Shown at once; the others behind a summary."""
DEEPEST = 6
MOST_MODULES = 600
OPEN_TO = 1
"""Modules that are at most so deep are shown open."""


@dataclass(frozen=True)
class OperatorBar:
    """An operator, and how often the file has it."""

    name: str
    count: str
    width: float


@dataclass(frozen=True)
class ModuleNode:
    """A module with those in it."""

    name: str
    class_name: str
    full_class: str
    nodes: str
    parameters: str
    share: float
    """Of the model's nodes, in percent."""
    is_open: bool
    children: tuple[ModuleNode, ...]


@dataclass(frozen=True)
class Graph:
    """The section on the graph."""

    nodes: str
    kinds: str
    operators: tuple[OperatorBar, ...]
    rarer: tuple[OperatorBar, ...]
    root: ModuleNode | None
    depth: int
    modules_left_out: int


def graph_of(report: Report) -> Graph | None:
    """Return the section, or None where no file was made."""
    if not report.operators:
        return None
    bars = _operators(report.operators)
    kept, depth = _select_modules(report.modules)
    return Graph(
        nodes=text.many(sum(report.operators.values()), "node"),
        kinds=text.many(len(bars), "operator"),
        operators=bars[:MOST_OPERATORS],
        rarer=bars[MOST_OPERATORS:],
        root=_tree(kept),
        depth=depth,
        modules_left_out=len(report.modules) - len(kept),
    )


def _operators(counts: dict[str, int]) -> tuple[OperatorBar, ...]:
    ordered = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    widths = share_of_largest([count for _, count in ordered])
    return tuple(
        OperatorBar(name, text.grouped(count), width)
        for (name, count), width in zip(ordered, widths, strict=True)
    )


def _select_modules(modules: Sequence[GraphModule]) -> tuple[list[GraphModule], int]:
    """Return the modules to show, at most MOST_MODULES, and their depth."""
    depth = DEEPEST
    kept = [module for module in modules if _depth(module.path) <= depth]
    while len(kept) > MOST_MODULES and depth > 1:
        depth -= 1
        kept = [module for module in kept if _depth(module.path) <= depth]
    kept = kept[:MOST_MODULES]
    return kept, max((_depth(module.path) for module in kept), default=0)


def _depth(path: str) -> int:
    return path.count(".") + 1 if path else 0


def _tree(modules: Sequence[GraphModule]) -> ModuleNode | None:
    """Return the model itself; a file that names no module has no tree."""
    if len(modules) <= 1 or modules[0].path:
        return None
    below: dict[str, list[GraphModule]] = {}
    for module in modules[1:]:
        below.setdefault(module.path.rpartition(".")[0], []).append(module)
    total = max(modules[0].nodes, 1)

    def make_node(module: GraphModule) -> ModuleNode:
        return ModuleNode(
            name=module.path.rpartition(".")[2] or "model",
            class_name=module.module_class.rpartition(".")[2],
            full_class=module.module_class,
            nodes=text.many(module.nodes, "node"),
            parameters=text.parameters(module.parameters) if module.parameters else "",
            share=round(module.nodes / total * 100, 2),
            is_open=_depth(module.path) < OPEN_TO,
            children=tuple(make_node(child) for child in below.get(module.path, [])),
        )

    return make_node(modules[0])


def walk(node: ModuleNode) -> Iterator[ModuleNode]:
    """Yield a module and all that are in it."""
    yield node
    for child in node.children:
        yield from walk(child)
