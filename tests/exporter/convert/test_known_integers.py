"""Sizes computed with integers that a module keeps in tensors, through the whole product."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from modelexport_api.status import Verdict
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.types import ExportTask
from modelexport_exporter.workers.export import export_model
from modelexport_exporter.workers.resident_exporter import ResidentExporter
from modelexport_exporter.workers.verify import verify_model
from models import catalog
from models.catalog import CODE, initialised
from models.code import kept_integers
from models.exporting import silent, task_for


def task_of(factory: type[torch.nn.Module], directory: Path) -> ExportTask:
    model = replace(
        catalog.SINE,
        name=factory.__name__,
        factory=f"kept_integers:{factory.__name__}",
        code=CODE / "kept_integers.py",
        inputs=[{"name": "x", "shape": ["batch", 1, "n"]}],
        dims={"batch": {"max": 3}, "n": {"min": 12, "max": 300}},
        outputs=[],
        write=initialised(factory),
    )
    return task_for(model, directory)


@pytest.mark.parametrize(
    "factory",
    [
        kept_integers.Padded,
        kept_integers.Windows,
        kept_integers.Rest,
        kept_integers.Plain,
        kept_integers.Flags,
    ],
)
def test_the_first_route_exports_it(factory: type[torch.nn.Module], tmp_path: Path) -> None:
    task = task_of(factory, tmp_path)
    converted = export_model(task, silent)
    assert converted.exporter.startswith("Dynamo")
    assert verify_model(task, converted, silent).summary.verdict is Verdict.VERIFIED


def test_the_graph_fits_no_other_checkpoint(tmp_path: Path) -> None:
    task = task_of(kept_integers.Padded, tmp_path)
    exporter = ResidentExporter()
    exporter.export(task, silent)
    with pytest.raises(ExportFailure, match="no graph was kept"):
        exporter.rebind(task, silent)
