"""Every way in which forward is called: exported on each rung, run and compared as ever."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from exporter.call.input_cases import (
    BATCH,
    DYNAMO,
    NUMBERS,
    SCRIPT,
    TRACE,
    Case,
    export,
    ids,
    rows,
    task_for,
)
from modelexport_api.status import Verdict
from modelexport_exporter.core.types import ExportTask, Rung
from zoo.code import kinds
from zoo.tasks import CODE, spec_for

CASES = {
    "by name, in another order": Case(
        "Keywords", [ids("token_type_ids", 1), ids("input_ids")], (DYNAMO, TRACE),
        ["input_ids", "token_type_ids"],
    ),
    "keyword-only": Case(
        "Keywords", [rows("inputs_embeds", shape=["n", 5, 4]), ids("attention_mask", 1)],
        (DYNAMO, TRACE), ["attention_mask", "inputs_embeds"],
    ),
    "a dict": Case(
        "Batch", [rows("batch.right"), rows("batch.left"), rows("scale")], (DYNAMO, TRACE)
    ),
    "NamedTuples in a tuple": Case(
        "Step",
        [rows("x"), *(rows(f"states.{i}.{f}") for i in (0, 1) for f in "hc")],
        (DYNAMO, TRACE),
    ),
    "a list of dicts of tuples": Case(
        "Layers",
        [rows("x"), *(rows(f"cache.{i}.pair.{j}") for i in (0, 1) for j in (0, 1))],
        (DYNAMO, TRACE),
    ),
    "an optional tensor": Case(
        "Optionals", [rows("x"), rows("bias", kind="Optional")], (DYNAMO, TRACE, SCRIPT)
    ),
    "None": Case(
        "Optionals",
        [rows("x"), {"name": "mask", "kind": "Constant"}, rows("bias", kind="Optional")],
        (DYNAMO, TRACE, SCRIPT),
        ["x", "bias"],
    ),
    "a sequence": Case(
        "Sequences",
        [rows("xs", kind="Sequence", length=3), rows("weight")],
        (DYNAMO, TRACE, SCRIPT),
        ["xs.0", "xs.1", "xs.2", "weight"],
    ),
    "numbers": Case("Numbers", [rows("x"), *NUMBERS], (SCRIPT,)),
    "branches on numbers": Case(
        "Branches",
        [rows("x"), {"name": "steps", "kind": "Int"}, {"name": "threshold", "kind": "Float"},
         {"name": "flip", "kind": "Bool"}],
        (SCRIPT,),
    ),
    "constants": Case(
        "Mode",
        [rows("x"), {"name": "mode", "kind": "Constant", "value": "relu"},
         {"name": "factors", "kind": "Constant", "value": [2.5, -1]},
         {"name": "mask", "kind": "Constant"}],
        (DYNAMO, TRACE, SCRIPT),
        ["x"],
    ),
    "in order, by other names": Case(
        "Optionals", [rows("first"), rows("second")], (DYNAMO, TRACE, SCRIPT)
    ),
    "variadic": Case("Variadic", [rows("a"), rows("b")], (DYNAMO, TRACE)),
    "variadic, by name": Case(
        "Variadic", [rows("xs.0"), rows("xs.1"), rows("named.scale")], (DYNAMO, TRACE)
    ),
    "behind a decorator": Case("Wrapped", [rows("x"), rows("y")], (DYNAMO, TRACE)),
    "returns a dataclass": Case("Packs", [rows("x")], (DYNAMO, TRACE)),
    "an int": Case(
        "Sized", [rows("x"), {"name": "k", "kind": "Int", "range": [1, 4]}], (DYNAMO, SCRIPT)
    ),
    "constants in their types": Case(
        "Padded",
        [rows("x"), {"name": "pads", "kind": "Constant", "value": [1, 2]},
         {"name": "value", "kind": "Constant", "value": 3}],
        (DYNAMO, TRACE, SCRIPT),
        ["x"],
    ),
    "no dims": Case("Scalars", [rows("x"), {"name": "scale"}], (DYNAMO, TRACE, SCRIPT)),
    "a dataclass": Case("Boxes", [rows("box.first")], (DYNAMO, TRACE)),
    "an example's dataclass": Case("Boxes", [rows("x")], (DYNAMO, TRACE), example="boxed"),
    "an example's tokens": Case(
        "Keywords",
        [{"name": "ids", "shape": ["n", "n"]}, {"name": "mask", "shape": ["n", "n"]}],
        (DYNAMO,),
        example="tokens",
    ),
    "an example's numbers": Case(
        "Numbers",
        [rows("x"), *NUMBERS[:2]],
        (DYNAMO, SCRIPT),
        example="numbers",
    ),
    "an example that is one tensor": Case("Optionals", [rows("x")], (DYNAMO,), example="one"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "rung"), [(name, rung) for name, case in CASES.items() for rung in case.rungs]
)
def test_is_exported_and_verified(name: str, rung: Rung, tmp_path: Path) -> None:
    case = CASES[name]
    task = task_for(case, rung, tmp_path)
    converted, outcome = export(task)
    assert outcome.first_problem is None
    assert outcome.summary.verdict is Verdict.VERIFIED
    declared = [entry["name"] for entry in case.inputs]
    assert [entry.name for entry in converted.inputs] == (case.names or declared)
    assert converted.findings == ()


@pytest.mark.parametrize("rung", [TRACE, SCRIPT])
def test_an_input_that_is_dropped_is_reported(rung: Rung, tmp_path: Path) -> None:
    converted, outcome = export(
        task_for(Case("Ignoring", [rows("x"), rows("unused")], ()), rung, tmp_path)
    )
    assert outcome.summary.verdict is Verdict.VERIFIED
    assert [(item.subject, item.obtained) for item in converted.findings] == [
        ("input unused", "dropped: the outputs do not depend on it")
    ]


@pytest.mark.parametrize(
    "names", [["batch.left", "batch.right", "scale"], ["a", "b", "c"]], ids=["by name", "in order"]
)
def test_a_program_s_dict_is_filled(names: list[str], tmp_path: Path) -> None:
    """A captured graph knows the parameters of the forward it was captured from."""
    size = torch.export.Dim("m", min=1, max=8)
    row = torch.randn(3, 4)
    batch = {"left": row, "right": row + 1}
    program = torch.export.export(
        kinds.Batch(),
        (batch, row),
        dynamic_shapes=({"left": {0: size}, "right": {0: size}}, {0: size}),
    )
    torch.export.save(program, tmp_path / "model.pt2")
    (tmp_path / "artifact").mkdir()
    spec = spec_for(inputs=[rows(name) for name in names], dims=BATCH)
    task = ExportTask(spec, tmp_path / "model.pt2", CODE, tmp_path / "artifact")
    converted, outcome = export(task)
    assert outcome.summary.verdict is Verdict.VERIFIED
    assert [entry.name for entry in converted.inputs] == names


def test_a_script_s_sequence_and_number(tmp_path: Path) -> None:
    """An archive has its types from its schema."""
    torch.jit.script(Repeated()).save(str(tmp_path / "model.ts"))  # type: ignore[no-untyped-call]
    (tmp_path / "artifact").mkdir()
    inputs = [
        rows("xs", kind="Sequence", length=2),
        {"name": "named.shift", "shape": []},
        {"name": "times", "kind": "Int", "range": [0, 3]},
    ]
    task = ExportTask(
        spec_for(inputs=inputs, dims=BATCH),
        tmp_path / "model.ts",
        CODE,
        tmp_path / "artifact",
        rung=SCRIPT,
    )
    converted, outcome = export(task)
    assert outcome.summary.verdict is Verdict.VERIFIED
    assert [entry.name for entry in converted.inputs] == ["xs.0", "xs.1", "named.shift", "times"]


class Repeated(torch.nn.Module):
    def forward(
        self,
        xs: list[torch.Tensor],
        named: dict[str, torch.Tensor],
        times: int,
        mode: str = "add",
    ) -> torch.Tensor:
        total = xs[0]
        for _ in range(times):
            for x in xs:
                total = total + x if mode == "add" else total
        return total + named["shift"]
