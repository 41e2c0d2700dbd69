"""Every way in which forward is called: exported on each rung, run and compared as ever."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch

from modelexport_api.status import Stage, Verdict
from modelexport_exporter.export_worker import export_model
from modelexport_exporter.values import ConvertedModel, ExportTask, Rung, VerificationOutcome
from modelexport_exporter.verify_worker import verify_model
from zoo.code import kinds
from zoo.tasks import CODE, spec_for

BATCH = {"n": {"min": 1, "max": 8}}
DYNAMO, SCRIPT, TRACE = Rung.DYNAMO, Rung.SCRIPT, Rung.TRACE


def rows(name: str, **more: Any) -> dict[str, Any]:  # noqa: ANN401
    return {"name": name, "shape": ["n", 4], **more}


def ids(name: str, highest: int = 15) -> dict[str, Any]:
    return {"name": name, "dtype": "int64", "shape": ["n", 5], "range": [0, highest]}


NUMBERS: list[dict[str, Any]] = [
    {"name": "times", "kind": "Int", "range": [1, 5]},
    {"name": "shift", "kind": "Float"},
    {"name": "double", "kind": "Bool"},
]


class Case(NamedTuple):
    model: str
    inputs: list[dict[str, Any]]
    rungs: tuple[Rung, ...]
    names: list[str] | None = None
    """Of the file's inputs; None: those of `inputs`."""
    example: str | None = None


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


def task_for(case: Case, rung: Rung, directory: Path) -> ExportTask:
    torch.manual_seed(1)
    module: torch.nn.Module = getattr(kinds, case.model)()
    torch.save(module.state_dict(), directory / "model.pt")
    spec = spec_for(f"kinds:{case.model}", inputs=case.inputs, dims=dims_of(case.inputs))
    if case.example is not None:
        assert spec.model is not None
        model = spec.model.model_copy(update={"example_inputs": f"kinds:{case.example}"})
        spec = spec.model_copy(update={"model": model})
    (directory / "artifact").mkdir()
    return ExportTask(spec, directory / "model.pt", CODE, directory / "artifact", rung=rung)


def dims_of(inputs: list[dict[str, Any]]) -> dict[str, dict[str, int]]:
    used = any("n" in entry.get("shape", []) for entry in inputs)
    return BATCH if used else {}


def export(task: ExportTask) -> tuple[ConvertedModel, VerificationOutcome]:
    converted = export_model(task, ignore)
    return converted, verify_model(task, converted, ignore)


def ignore(_stage: Stage, _fraction: float, _message: str) -> None:
    """Progress is not what is tested here."""


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
