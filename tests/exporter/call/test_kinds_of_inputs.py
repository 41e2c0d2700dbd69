"""Every way in which forward is called: exported on each rung, run and compared as ever."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch

from modelexport_api.reasons import Reason
from modelexport_api.status import Stage, Verdict
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.types import ConvertedModel, ExportTask, Rung, VerificationOutcome
from modelexport_exporter.workers.export import export_model
from modelexport_exporter.workers.verify import verify_model
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


class Refusal(NamedTuple):
    model: str
    inputs: list[dict[str, Any]]
    reason: Reason
    said: tuple[str, ...]
    rung: Rung = DYNAMO
    example: str | None = None


REFUSALS = {
    "a value on a tensor": Refusal(
        "Optionals", [rows("x", value=3)], Reason.INVALID_MANIFEST, ("input x", "has a value")
    ),
    "a name and parts of it": Refusal(
        "Batch",
        [rows("batch"), rows("batch.left")],
        Reason.INVALID_MANIFEST,
        ("input batch", "batch.left"),
    ),
    "a gap in a list": Refusal(
        "Layers",
        [rows("x"), rows("cache.0"), rows("cache.2")],
        Reason.INVALID_MANIFEST,
        ("cache.0, cache.2", "counted from 0"),
    ),
    "more than forward takes": Refusal(
        "Complex",
        [rows("x"), rows("y")],
        Reason.INPUTS_MISMATCH,
        ("inputs declare 2 (x, y)", "takes 1: forward(x)"),
    ),
    "too few": Refusal(
        "Wrapped",
        [rows("x")],
        Reason.INPUTS_MISMATCH,
        ("missing 1 required positional argument: 'y'",),
    ),
    "names for fewer tensors than the example has": Refusal(
        "Keywords",
        [{"name": "ids"}],
        Reason.INPUTS_MISMATCH,
        ("kinds:tokens returns 2 tensors", "int64[2, 5]", "inputs name 1 (ids)"),
        example="tokens",
    ),
    "names for more tensors than the example has": Refusal(
        "Optionals",
        [{"name": "x"}, {"name": "y"}],
        Reason.INPUTS_MISMATCH,
        ("returns 1 tensors", "inputs name 2 (x, y)"),
        example="one",
    ),
    "another rank than the example's": Refusal(
        "Optionals",
        [rows("x", shape=["n", 4, 1])],
        Reason.INPUTS_MISMATCH,
        ("input x: declared with 3 dims", "(2, 4)"),
        example="one",
    ),
    "an example that fails": Refusal(
        "Optionals",
        [rows("x")],
        Reason.FACTORY_FAILED,
        ("kinds:failing raised RuntimeError: no example today", "kinds.py:"),
        example="failing",
    ),
    "no such example": Refusal(
        "Optionals",
        [rows("x")],
        Reason.FACTORY_NOT_FOUND,
        ("model.exampleInputs is kinds:token", "has no token"),
        example="token",
    ),
    "an example of nothing": Refusal(
        "Optionals", [rows("x")], Reason.FACTORY_FAILED, ("returned None",), example="nothing"
    ),
    "complex outputs": Refusal("Complex", [rows("x")], Reason.CONTRACT_VIOLATED, ("is complex64",)),
    "complex outputs, traced": Refusal(
        "Complex", [rows("x")], Reason.CONTRACT_VIOLATED, ("is complex64",), TRACE
    ),
    "strings as outputs": Refusal(
        "Labels", [rows("x")], Reason.CONVERSION_FAILED, ("is the str 'label'",)
    ),
    "strings as outputs, traced": Refusal(
        "Labels", [rows("x")], Reason.CONTRACT_VIOLATED, ("is a str, not a tensor",), TRACE
    ),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_is_refused_with_a_reason(name: str, tmp_path: Path) -> None:
    refusal = REFUSALS[name]
    case = Case(refusal.model, refusal.inputs, (), example=refusal.example)
    with pytest.raises(ExportFailure) as caught:
        export_model(task_for(case, refusal.rung, tmp_path), ignore)
    failure = caught.value
    assert failure.reason is refusal.reason, failure
    assert all(part in failure.message for part in refusal.said), failure.message
    assert failure.hint


@pytest.mark.parametrize(
    ("model", "inputs"),
    [
        pytest.param(
            "Branches",
            [
                rows("x"),
                {"name": "steps", "kind": "Int", "range": [0, 4]},
                {"name": "threshold", "kind": "Constant", "value": 0},
                {"name": "flip", "kind": "Constant", "value": False},
            ],
            id="a loop",
        ),
        pytest.param(
            "Branches",
            [
                rows("x"),
                {"name": "steps", "kind": "Constant", "value": 1},
                {"name": "threshold", "kind": "Float"},
                {"name": "flip", "kind": "Constant", "value": False},
            ],
            id="a threshold",
        ),
        pytest.param(
            "Branches",
            [
                rows("x"),
                {"name": "steps", "kind": "Constant", "value": 1},
                {"name": "threshold", "kind": "Constant", "value": 0},
                {"name": "flip", "kind": "Bool"},
            ],
            id="a switch",
        ),
    ],
)
@pytest.mark.parametrize("rung", [DYNAMO, TRACE])
def test_a_number_that_is_baked_in_is_noticed(
    model: str, inputs: list[dict[str, Any]], rung: Rung, tmp_path: Path
) -> None:
    """Whether torch says so, or writes a file that is right for one value only."""
    task = task_for(Case(model, inputs, ()), rung, tmp_path)
    try:
        _, outcome = export(task)
        ended = str(outcome.summary.verdict)
    except ExportFailure as failure:
        ended = str(failure.reason)
    assert ended in {"Mismatch", "CaptureFailed", "DynamicDimSpecialized", "RuntimeFailed"}


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
