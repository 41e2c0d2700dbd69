"""The graph: its operators by count, its modules as a tree."""

from __future__ import annotations

from typing import Any

import pytest

from modelexport_exporter.report import graph
from modelexport_exporter.report.graph import graph_of, walk
from unit.exporter.report.reports import (
    report,
)


def modules(*rows: tuple[str, int]) -> list[dict[str, Any]]:
    return [
        {"path": path, "moduleClass": f"torch.nn.C{path}", "nodes": nodes, "parameters": 0}
        for path, nodes in rows
    ]


def test_operators_are_ordered_by_count_and_modules_nested() -> None:
    found = graph_of(
        report(modules=modules(("", 3), ("body", 2), ("body.0", 1), ("body.1", 1), ("head", 1)))
    )
    assert found is not None
    assert [(bar.name, bar.count, bar.width) for bar in found.operators] == [
        ("Gemm", "2", 100.0),
        ("Relu", "1", 50.0),
    ]
    assert found.root is not None
    assert [node.name for node in walk(found.root)] == ["model", "body", "0", "1", "head"]
    assert found.root.is_open
    assert not found.root.children[0].is_open


def test_a_file_that_names_no_module_has_no_tree() -> None:
    found = graph_of(report(modules=modules(("", 3))))
    assert found is not None
    assert found.root is None


def test_a_deep_model_is_cut_where_a_person_stops_looking(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph, "MOST_MODULES", 3)
    found = graph_of(report(modules=modules(("", 3), ("a", 3), ("a.b", 2), ("a.b.c", 1), ("d", 1))))
    assert found is not None
    assert (found.depth, found.modules_left_out) == (1, 2)
