"""The largest values come in order, and of equal ones the first."""

from __future__ import annotations

import numpy as np
import onnx.parser
import onnx_ir as ir
import pytest

from modelexport_exporter.convert.exact_kernels import Declared, avoid_inexact_kernels
from unit.exporter.convert.exact_kernels.graphs import run


@pytest.mark.parametrize(
    ("largest", "places"),
    [(0, [1, 3, 7, 8, 9]), (1, [0, 4, 6, 11, 2])],
    ids=["smallest", "largest"],
)
def test_values_are_sorted(largest: int, places: list[int]) -> None:
    text = f"""<ir_version: 10, opset_import: ["" : 20]>
        one (float[n] x0) => (int64[k] y) <int64[1] k = {{5}}> {{
            values, y = TopK <largest = {largest}, sorted = 0> (x0, k)
        }}"""
    model = ir.serde.deserialize_model(onnx.parser.parse_model(text))
    avoid_inexact_kernels(model, Declared({}, ()))
    x = np.array([3, 1, 2, 1, 3, 2, 3, 1, 1, 1, 2, 3, 2], np.float32)
    assert run(model, [x]).tolist() == places
