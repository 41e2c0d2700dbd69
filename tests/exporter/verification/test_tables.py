"""One damaged row of a table is found, whatever the exporter made of the table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import onnx
import pytest
import torch
from onnx import numpy_helper

from modelexport_api.status import Verdict
from modelexport_exporter.core.sample import Values
from modelexport_exporter.workers.verify import verify_model
from models.catalog import RealModel
from models.exporting import convert, forget_user_code, silent, task_for

CODE = Path(__file__).parents[2] / "models" / "code" / "looked_up.py"


@pytest.fixture(autouse=True)
def _forget_user_code() -> Iterator[None]:
    yield
    forget_user_code()


def ids(name: str, rows: int, *shape: int | str) -> dict[str, Any]:
    return {"name": name, "shape": list(shape), "dtype": "int64", "range": [0, rows - 1]}


@dataclass(frozen=True)
class Case:
    name: str
    inputs: tuple[dict[str, Any], ...]
    dynamo: bool = True

    def model(self) -> RealModel:
        def write(path: Path) -> None:
            namespace: dict[str, Any] = {"__name__": "looked_up"}
            exec(compile(CODE.read_text(), str(CODE), "exec"), namespace)
            torch.save(namespace[self.name]().state_dict(), path)

        return RealModel(
            name=self.name.lower(),
            factory=f"looked_up:{self.name}",
            code=CODE,
            inputs=list(self.inputs),
            dims={"n": {"min": 1, "max": 40}},
            checkpoint_name="model.pt",
            write=write,
            outputs=[],
        )


IDS = (ids("ids", 50_000, "n"),)
CASES = [
    Case("Plain", IDS),
    Case("Scaled", IDS),
    Case("Scaled", IDS, dynamo=False),
    Case("Normed", IDS),
    Case("Normed", IDS, dynamo=False),
    Case("Heavy", (ids("ids", 50_000, "n", 16),)),
    Case("Integers", (ids("ids", 300_000, "n"),)),
    Case("Brief", IDS),
    Case("Drawn", IDS, dynamo=False),
    Case("Mapped", IDS),
    Case("Fields", (ids("ids", 50_000, "n", 3),)),
    Case("Cells", (ids("row", 200, "n"), ids("column", 300, "n"))),
    Case("OneHot", (ids("ids", 5000, "n"),)),
]


def one_row(proto: onnx.ModelProto) -> None:
    """Change one row of the constant with most rows."""
    nodes = (own for node in proto.graph.node for own in node.attribute if own.HasField("t"))
    tensors = [*proto.graph.initializer, *(own.t for own in nodes)]
    largest = max(tensors, key=lambda own: (*own.dims[:1], len(own.dims)))
    values = numpy_helper.to_array(largest).copy()
    at = (123, 234) if len(values) == 200 else len(values) * 5 // 8
    values[at] = values[at] * 2 + 1
    largest.CopyFrom(numpy_helper.from_array(values, largest.name))


@pytest.mark.parametrize("case", CASES, ids=lambda own: f"{own.name}-{own.dynamo}")
def test_a_damaged_row_is_found(tmp_path: Path, case: Case) -> None:
    task = task_for(case.model(), tmp_path)
    outcome = verify_model(task, convert(task, dynamo=case.dynamo, damage=one_row), silent)
    assert outcome.summary.verdict is Verdict.MISMATCH
    assert Values.LOOKUPS in {own.values for own in outcome.samples if own.differs}


@pytest.mark.parametrize("case", CASES, ids=lambda own: f"{own.name}-{own.dynamo}")
def test_a_whole_file_is_verified_without_many_lookups(tmp_path: Path, case: Case) -> None:
    task = task_for(case.model(), tmp_path)
    outcome = verify_model(task, convert(task, dynamo=case.dynamo), silent)
    assert outcome.summary.verdict is Verdict.VERIFIED
    assert not any("table" in sentence for sentence in outcome.summary.coverage)
    assert sum(own.values is Values.LOOKUPS for own in outcome.samples) <= 8
