"""Workflows around how a graph is captured: traces, scripts, loops, modes, wrappers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from modelexport_api.reasons import Reason
from seeds.case import Case, array, as_state_dict, refused, tensor
from seeds.harness import Bench, each

ROWS = (tensor("x", "batch", 6),)
FEW = {"batch": (1, 40)}
TIMES = tensor("times", dtype="int64", low=0, high=6)
LOUD = ({"x": array([[4.0] * 6, [1.0] * 6])}, {"x": array([[-4.0] * 6])}, {"x": array([[0.1] * 6])})


def as_script(module: torch.nn.Module, directory: Path) -> Path:
    """Write a scripted module, or function."""
    path = directory / "model.pt"
    torch.jit.save(module, str(path))
    return path


def as_trace(module: torch.nn.Module, directory: Path) -> Path:
    """Write a trace of a module that takes rows of 6."""
    path = directory / "model.pt"
    torch.jit.trace(module, torch.ones(3, 6)).save(str(path))  # type: ignore[no-untyped-call]
    return path


def as_image_trace(module: torch.nn.Module, directory: Path) -> Path:
    path = directory / "model.pt"
    torch.jit.trace(module, torch.ones(3, 3, 8, 8)).save(str(path))  # type: ignore[no-untyped-call]
    return path


def as_wrapped_state_dict(module: torch.nn.Module, directory: Path) -> Path:
    """Write what training under DataParallel leaves: every name begins with module."""
    return as_state_dict(torch.nn.DataParallel(module), directory)


def as_program(module: torch.nn.Module, directory: Path) -> Path:
    """Write an ExportedProgram with a free batch."""
    path = directory / "model.pt2"
    batch = torch.export.Dim("batch", min=1, max=40)
    program = torch.export.export(module, (torch.ones(3, 6),), dynamic_shapes=({0: batch},))
    torch.export.save(program, path)
    return path


def flow(rows: str, name: str, factory: str, **more: object) -> Case:
    """Return a case of rows of 6 with a model of code/control_flow.py."""
    inputs = more.pop("inputs", ROWS)
    return Case(rows, name, f"control_flow:{factory}", inputs, FEW, **more)  # type: ignore[arg-type]


GRAPH = {"factory": None}
CASES = (
    Case(
        "C9 E12",
        "traced",
        "plain_models:perceptron",
        ROWS,
        FEW,
        export={"exporter": "TorchScript"},
    ),
    Case(
        "C10 E12",
        "traced_archive",
        "plain_models:conv_net",
        (tensor("image", "batch", 3, 8, 8),),
        {"batch": (1, 9)},
        model=GRAPH,
        checkpoint=as_image_trace,
    ),
    flow("C11 E12", "scripted_archive", "scripted_branch", model=GRAPH, checkpoint=as_script),
    flow("C11", "branch_of_rows", "branch", feeds=LOUD, edges=()),
    flow("C11 C34", "counted_loop", "counted_loop", inputs=(*ROWS, TIMES)),
    flow("C11 C34", "while_loop", "while_loop", feeds=LOUD),
    flow("C34", "loop_over_rows", "loop_over_rows", nightly=True),
    flow("C34", "fixed_loop", "fixed_loop"),
    flow("C12", "script_in_trace", "script_in_trace", feeds=LOUD),
    flow("C12", "trace_in_script", "scripted_trace", feeds=LOUD, edges=()),
    flow("C13 E12", "script_function", "script_function", feeds=LOUD, edges=()),
    flow(
        "C13 E12",
        "script_function_of_two",
        "script_function_of_two",
        inputs=(*ROWS, tensor("y", "batch", 6)),
        edges=(),
        nightly=True,
    ),
    Case("C26", "small_operators", "plain_models:SmallOperators", ROWS, FEW),
    Case("C38", "eval_mode", "plain_models:norm_and_dropout", ROWS, FEW, {"dropout": 0.5}),
    Case(
        "C38",
        "built_in_train_mode",
        "plain_models:perceptron_in_train_mode",
        ROWS,
        FEW,
        nightly=True,
    ),
    Case(
        "C38",
        "train_mode",
        "plain_models:norm_and_dropout",
        ROWS,
        {"batch": (2, 40)},
        model={"training": True},
    ),
    Case(
        "C38",
        "train_mode_with_dropout",
        "plain_models:norm_and_dropout",
        ROWS,
        {"batch": (2, 40)},
        {"dropout": 0.5},
        model={"training": True},
        expected=refused(Reason.VERIFICATION_FAILED, words=("two runs",)),
    ),
    Case(
        "C28",
        "tensorrt",
        "plain_models:perceptron",
        ROWS,
        FEW,
        spec={"verification": {"provider": "TensorRT", "benchmark": False}},
        or_refused=refused(Reason.PROVIDER_UNAVAILABLE, words=("TensorRT", "GPU")),
    ),
    Case("C39 E7", "export_branch", "plain_models:ExportBranch", ROWS, FEW),
    Case(
        "C39 D17",
        "wrong_export_branch",
        "plain_models:WrongExportBranch",
        ROWS,
        FEW,
        or_refused=refused(Reason.VERIFICATION_FAILED),
        nightly=True,
    ),
    Case(
        "C40",
        "data_parallel",
        "plain_models:data_parallel",
        (tensor("image", "batch", 3, 8, 8),),
        {"batch": (1, 9)},
        nightly=True,
    ),
    Case(
        "C40",
        "data_parallel_checkpoint",
        "plain_models:conv_net",
        (tensor("image", "batch", 3, 8, 8),),
        {"batch": (1, 9)},
        checkpoint=as_wrapped_state_dict,
    ),
    Case(
        "C41",
        "exported_program",
        "plain_models:perceptron",
        ROWS,
        FEW,
        model=GRAPH,
        checkpoint=as_program,
    ),
    Case(
        "C41",
        "exported_program_of_many_outputs",
        "everyday:Normalised",
        ROWS,
        FEW,
        model=GRAPH,
        checkpoint=as_program,
        nightly=True,
    ),
    Case(
        "C10 E12",
        "traced_archive_of_many_outputs",
        "everyday:Normalised",
        ROWS,
        FEW,
        model=GRAPH,
        checkpoint=as_trace,
        nightly=True,
    ),
    flow("C42", "other_exporter", "while_loop", feeds=LOUD, routes=("Script",)),
)


@pytest.mark.parametrize("case", each(CASES))
def test_case(case: Case, bench: Bench) -> None:
    bench.check(case)


@pytest.mark.parametrize(
    ("name", "outcome"),
    [
        ("branch", {"routes": ("DynamoByValue",)}),
        ("while_loop", {"expected": refused(Reason.CAPTURE_FAILED, words=("control_flow.py",))}),
    ],
)
def test_a_pinned_exporter_does_not_bake_a_branch(
    name: str, outcome: dict[str, Any], bench: Bench
) -> None:
    """A trace would take one way for all data."""
    exporter = {"exporter": "Dynamo"}
    bench.check(flow("C9 C11 D6", f"pinned_{name}", name, export=exporter, **outcome))
