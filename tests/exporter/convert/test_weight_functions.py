"""What PyTorch computes from weights once, since ONNX cannot."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from modelexport_api.reasons import Reason
from modelexport_api.status import Verdict
from modelexport_exporter.convert.weight_functions import with_computed_weights
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.types import ExportTask
from modelexport_exporter.workers.export import export_model
from modelexport_exporter.workers.resident_exporter import ResidentExporter
from modelexport_exporter.workers.verify import verify_model
from models import catalog
from models.catalog import CODE, initialised
from models.code import weight_functions
from models.exporting import silent, task_for

ROWS = torch.randn(3, 4)


def task_of(factory: type[torch.nn.Module], directory: Path) -> ExportTask:
    model = replace(
        catalog.SINE,
        name=factory.__name__,
        factory=f"weight_functions:{factory.__name__}",
        code=CODE / "weight_functions.py",
        inputs=[{"name": "x", "shape": ["batch", 4]}],
        dims={"batch": {"max": 9}},
        outputs=[],
        write=initialised(factory),
    )
    return task_for(model, directory)


@pytest.mark.parametrize("factory", [weight_functions.Axes, weight_functions.Orthogonal])
def test_it_is_exported_and_verified(factory: type[torch.nn.Module], tmp_path: Path) -> None:
    task = task_of(factory, tmp_path)
    converted = export_model(task, silent)
    assert verify_model(task, converted, silent).summary.verdict is Verdict.VERIFIED


def test_the_graph_fits_no_other_checkpoint(tmp_path: Path) -> None:
    task = task_of(weight_functions.Axes, tmp_path)
    exporter = ResidentExporter()
    exporter.export(task, silent)
    with pytest.raises(ExportFailure, match="no graph was kept"):
        exporter.rebind(task, silent)


def test_what_reads_an_input_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(ExportFailure, match="linalg_eig") as caught:
        export_model(task_of(weight_functions.AxesOfInput, tmp_path), silent)
    assert caught.value.reason is Reason.UNSUPPORTED_OPERATOR


@pytest.mark.parametrize(
    ("factory", "expected"),
    [
        (weight_functions.Axes, True),
        (weight_functions.AxesOfInput, False),
        (weight_functions.Counting, False),
        (weight_functions.Drawn, False),
    ],
)
def test_only_what_never_changes_is_computed(
    factory: type[torch.nn.Module], expected: bool
) -> None:
    program = torch.export.export(factory().eval(), (ROWS,))
    calls = {node.name for node in program.graph.nodes if "linalg" in node.name}
    assert calls
    assert with_computed_weights(program, calls) is expected


def test_weights_without_data_are_left() -> None:
    with torch.device("meta"):
        module = weight_functions.Axes()
    program = torch.export.export(module, (ROWS.to("meta"),))
    calls = {node.name for node in program.graph.nodes if "linalg" in node.name}
    assert not with_computed_weights(program, calls)


def test_the_program_computes_the_same() -> None:
    module = weight_functions.Axes().eval()
    program = torch.export.export(module, (ROWS,))
    assert with_computed_weights(program, {"linalg_eigh"})
    assert not [node for node in program.graph.nodes if "linalg" in str(node.target)]
    torch.testing.assert_close(program.module()(ROWS), module(ROWS))
    program.run_decompositions({})  # it is a valid program
