"""What was within the limit of the largest output, weight or input, and is wrong where it is.

The right files of such models are verified: tests/seeds/test_silent_values.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from exporter.verification.limited_models import CODE, entry, outcome
from modelexport_api.status import Verdict
from models.catalog import RealModel, small_model
from models.exporting import forget_user_code

N = {"n": (1, 40)}


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    yield
    forget_user_code()


X = entry("x", "n", 4)


@dataclass(frozen=True)
class Scaled:
    """A model whose first output is multiplied by numbers near 1, and what its limit once was."""

    name: str
    inputs: tuple[dict[str, Any], ...]
    factors: Any
    once: float
    """The limit relative to the output's largest magnitude, by the largest floor of the model."""

    @property
    def model(self) -> RealModel:
        return small_model(CODE, self.name, *self.inputs, **N)

    def damage(self, proto: onnx.ModelProto) -> None:
        """Multiply the first output."""
        name = proto.graph.output[0].name
        for node in proto.graph.node:
            node.output[:] = [f"{out}_right" if out == name else out for out in node.output]
        kind = proto.graph.output[0].type.tensor_type.elem_type
        dtype = helper.tensor_dtype_to_np_dtype(kind)
        proto.graph.initializer.append(
            numpy_helper.from_array(np.asarray(self.factors, dtype), "factors")
        )
        proto.graph.node.append(helper.make_node("Mul", [f"{name}_right", "factors"], [name]))


CASES = {
    "scores beside pixels": Scaled(
        "ScoresBesidePixels", (entry("x", "n", 6),), [1, 1, 1, 1, 1 + 1e-3], 4e-6
    ),
    "one large channel": Scaled(
        "LargeChannel", (entry("x", "n", 3, 4, 4),), [[[1]], [[1 + 1e-3]], [[1]]], 4e-6
    ),
    "1 - p beside a price": Scaled("PriceAndComplement", (entry("x", "n"),), [1, 1.5], 4e-6),
    "float64 beside a weight of float32": Scaled(
        "DoubleBesideFloat",
        (X, entry("t", "n", dtype="float64", range=[1.6e12, 1.8e12])),
        1 + 2e-6,
        4e-6,
    ),
    "a table of float16": Scaled(
        "HalfTable", (entry("ids", "n", dtype="int64", range=[0, 15]), X), 1 + 1e-3, 5e-3
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_an_output_has_a_limit_of_its_own(tmp_path: Path, case: Scaled) -> None:
    found = outcome(case.model, tmp_path, case.damage)
    assert found.summary.verdict is Verdict.MISMATCH
