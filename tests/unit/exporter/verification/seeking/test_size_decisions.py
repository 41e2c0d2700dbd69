"""Decisions of a file on sizes alone, found without running the file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import parser

from modelexport_api.reasons import Reason
from modelexport_api.spec import Input
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.sample import Sample, Values
from modelexport_exporter.verification.seeking.size_decisions import (
    MOST_FOUND,
    SizeDecisions,
    size_decisions_of,
)
from modelexport_exporter.verification.seeking.size_probe import may_decide_on_sizes, size_probe_of

HEAD = '<ir_version: 8, opset_import: ["" : 17]>\n'
BODY = """agraph (float[n, m] x, float[m] z) => (float[n, m] y) {{
    {rule}
    other = Neg(x)
    y = Where(found, other, x)
}}"""
SIZES = """shape = Shape(x)
    zero = Constant<value = int64 {0}>()
    one = Constant<value = int64 {1}>()
    n = Gather(shape, zero)
    m = Gather(shape, one)
    """
RULES = {
    "a sum": SIZES + "k = Constant<value = int64 {23}>() s = Add(n, m) found = Equal(s, k)",
    "a difference": SIZES + "k = Constant<value = int64 {-9}>() s = Sub(n, m) found = Equal(s, k)",
    "a remainder": SIZES
    + "k = Constant<value = int64 {97}>() p = Mul(n, m) s = Mod(p, k) found = Equal(s, zero)",
    "a count": "s = Size(x) k = Constant<value = int64 {143}>() found = Equal(s, k)",
    "one dim": "s = Shape<start = -1>(x) k = Constant<value = int64[1] {13}>() found = Equal(s, k)",
    "after a cast": "h = Cast<to = 11>(x) s = Size(h) k = Constant<value = int64 {1}>()"
    " found = Less(s, k)",
    "a choice": SIZES + "k = Constant<value = int64 {2}>() s = Min(n, k) found = Equal(s, k)",
}
INPUTS = [Input(name="x", shape=["n", "m"]), Input(name="z", shape=["m"])]


def model(rule: str) -> onnx.ModelProto:
    found = parser.parse_model(HEAD + BODY.format(rule=rule))
    onnx.checker.check_model(found)
    return found


def opened(path: Path) -> Any:  # noqa: ANN401
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])

    def run(arrays: Mapping[str, Any], _where: str) -> list[tuple[str, Any]]:
        feed = {entry.name: arrays[entry.name] for entry in session.get_inputs()}
        names = [entry.name for entry in session.get_outputs()]
        return list(zip(names, session.run(None, feed), strict=True))

    return run


def decisions(path: Path, rule: str) -> SizeDecisions | None:
    onnx.save(model(rule), path)
    return size_decisions_of(path, INPUTS, opened)


@pytest.mark.parametrize("rule", [pytest.param(rule, id=name) for name, rule in RULES.items()])
def test_sizes_of_each_side_are_found(rule: str, tmp_path: Path) -> None:
    found = decisions(tmp_path / "m.onnx", rule)
    assert found is not None
    found.add([{"n": 2, "m": 3}])
    sizes = [{"n": n, "m": m} for n in range(16) for m in range(16)]
    samples = found.among([Sample(own, Values.NORMAL, 0) for own in sizes], 60.0)
    file = opened(tmp_path / "m.onnx")
    seen = {_is_negated(file, own) for own in ({"n": 2, "m": 3}, *(s.dims for s in samples))}
    assert len(seen) == 2


def _is_negated(file: Any, sizes: Mapping[str, int]) -> bool | None:  # noqa: ANN401
    """Return which side the file takes, seen in its output; None where it has no elements."""
    x = np.ones((sizes["n"], sizes["m"]), np.float32)
    ((_, y),) = file({"x": x, "z": np.ones(sizes["m"], np.float32)}, "")
    return bool((y == -1).all()) if y.size else None


@pytest.mark.parametrize(
    "rule",
    [
        pytest.param(
            "zero = Constant<value = float {0}>() found = Greater(x, zero)", id="on values"
        ),
        pytest.param(
            "zero = Constant<value = int64 {0}>() k = NonZero(x) s = Size(k) "
            "found = Greater(s, zero)",
            id="on a size that values decide",
        ),
        pytest.param(
            SIZES + "places = Range(zero, m, one) found = Less(places, m)", id="on positions"
        ),
    ],
)
def test_other_decisions_are_left_out(rule: str, tmp_path: Path) -> None:
    assert decisions(tmp_path / "m.onnx", rule) is None


def test_the_probe_holds_nothing_else() -> None:
    probe = size_probe_of(model(RULES["a sum"]))
    assert probe is not None
    assert [entry.name for entry in probe.graph.input] == ["modelexport_shape_of_x"]
    assert "Neg" not in [node.op_type for node in probe.graph.node]


EACH_SIZE = (
    "n = Shape<start = 0, end = 1>(x) k = Constant<value = int64 {0}>() found = Greater(n, k)"
)


def rows(sizes: range) -> list[Sample]:
    return [Sample({"n": n, "m": 1}, Values.NORMAL, 0) for n in sizes]


def which_row(shapes: Mapping[str, Any], _where: str) -> list[tuple[str, Any]]:
    """Decide otherwise at each size, which the probe itself does not: it is not understood."""
    return [("y", shapes["modelexport_shape_of_x"])]


@pytest.fixture
def not_understood() -> SizeDecisions:
    probe = size_probe_of(model(EACH_SIZE))
    assert probe is not None
    found = SizeDecisions(INPUTS[:1], probe, which_row)
    found.add([{"n": 100, "m": 1}])
    return found


def test_few_samples_are_taken_of_what_differs_at_each_size(not_understood: SizeDecisions) -> None:
    assert len(list(not_understood.among(rows(range(100)), 60.0))) == MOST_FOUND


def test_time_ends_the_search(not_understood: SizeDecisions) -> None:
    times = iter([0.0, 0.5, 2.0])
    assert len(list(not_understood.among(rows(range(100)), 1.0, lambda: next(times)))) == 16


def test_decisions_at_many_sizes_need_no_run_each(tmp_path: Path) -> None:
    runs: list[str] = []

    def counted(path: Path) -> Any:  # noqa: ANN401
        run = opened(path)

        def counting(arrays: Mapping[str, Any], where: str) -> list[tuple[str, Any]]:
            runs.append(where)
            return list(run(arrays, where))

        return counting

    onnx.save(model(RULES["a remainder"]), tmp_path / "m.onnx")
    found = size_decisions_of(tmp_path / "m.onnx", INPUTS, counted)
    assert found is not None
    found.add([{"n": 1, "m": 1}])
    samples = [
        Sample({"n": n, "m": m}, Values.NORMAL, 0) for n in range(1, 200) for m in range(1, 97)
    ]
    (first, *_others) = found.among(samples, 60.0)
    assert first.dims == {"n": 97, "m": 1}
    assert len(runs) == 1


def test_sizes_that_the_runtime_refuses_are_no_decision() -> None:
    def refuse(shapes: Mapping[str, Any], _where: str) -> list[tuple[str, Any]]:
        raise ExportFailure(Reason.RUNTIME_FAILED, "refused")

    probe = size_probe_of(model(EACH_SIZE))
    assert probe is not None
    found = SizeDecisions(INPUTS[:1], probe, refuse)
    found.add([{"n": 1, "m": 1}])
    assert list(found.among(rows(range(100)), 60.0)) == []


@pytest.mark.parametrize(
    ("operators", "expected"),
    [
        ({"Shape", "Equal"}, True),
        ({"Size", "Min"}, True),
        ({"Shape", "Add"}, False),
        ({"Equal", "Where"}, False),
    ],
)
def test_files_that_may_decide_on_sizes(operators: set[str], expected: bool) -> None:
    assert may_decide_on_sizes(operators) is expected
