"""Conditions on sizes as nodes, against Python."""

from __future__ import annotations

from itertools import product

import numpy as np
import onnx_ir as ir
import onnxruntime
import pytest

from modelexport_exporter.convert.by_size.condition_nodes import ConditionNodes, Unsupported
from modelexport_exporter.convert.by_size.regions import Region
from modelexport_exporter.convert.size_expressions import compiled, holds_at

SIZES = (0, 1, 2, 3, 5, 6, 7, 8, 12, 23, 40)


def session(*conditions: str) -> onnxruntime.InferenceSession:
    x = ir.val("x", ir.DataType.FLOAT, ir.Shape(["n", 2, "m"]))
    nodes = ConditionNodes({"n": (x, 0), "m": (x, 2)})
    result = nodes.holds(Region(conditions))
    graph = ir.Graph([x], [result], nodes=nodes.nodes, opset_imports={"": 18}, name="condition")
    model = ir.to_proto(ir.Model(graph, ir_version=10))
    return onnxruntime.InferenceSession(model.SerializeToString())


@pytest.mark.parametrize(
    "condition",
    [
        "n < m",
        "n != 5",
        "1 < n <= 7 < m",
        "((-1)*n) // 4 == (-2)",
        "((7 + ((-1)*n)) % 4) != 3",
        "n*m == 40 or not n > 3 and m >= 2",
        "24.000000000000000 < ((24.000000000000000 / (torch.sym_float(min(n + 1, m + 1)))))"
        "*torch.sym_float(m)",
        "round(((torch.sym_float((-7) + n)) / 2.0000000000000000)) == 2",
        "math.trunc(0.50000000000000000 + 0.58*torch.sym_float(n)) == 3",
        "math.floor(torch.sym_float(n) / 3.0) + math.ceil(n / 3) > m",
        "int(math.sqrt(torch.sym_float(n)))**2 == n",
        "math.sqrt(n) < 2.5",
        "max(1, n // 4, m // 4) != 1",
        "(3 if n > m else m) == 3",
        "abs(n - m) >= 5",
        "n / 2 == 3",
    ],
)
def test_as_python_evaluates(condition: str) -> None:
    computed = session(condition)
    code = compiled(condition)
    for n, m in product(SIZES, SIZES):
        (found,) = computed.run(None, {"x": np.zeros((n, 2, m), np.float32)})
        assert bool(found) is holds_at(code, {"n": n, "m": m}), (n, m)


def test_all_conditions_of_a_region_have_to_hold() -> None:
    computed = session("n > 2", "m > 2")
    for n, m in product(SIZES, SIZES):
        (found,) = computed.run(None, {"x": np.zeros((n, 2, m), np.float32)})
        assert bool(found) is (n > 2 and m > 2)


@pytest.mark.parametrize(
    "condition", ["k > 2", "n**5 > 3", "n in (2, 3)", "n >> 1 == 2", "math.gcd(n, m) == 1", "~n"]
)
def test_what_is_not_computed_is_refused(condition: str) -> None:
    x = ir.val("x", ir.DataType.FLOAT, ir.Shape(["n", "m"]))
    with pytest.raises(Unsupported):
        ConditionNodes({"n": (x, 0), "m": (x, 1)}).holds(Region((condition,)))
