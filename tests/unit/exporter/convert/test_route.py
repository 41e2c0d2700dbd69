"""Whether a rung can take what was loaded."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from modelexport_api.spec import Exporter, Format
from modelexport_exporter.convert.route import check_route
from modelexport_exporter.core.errors import ExportFailure, RouteFallback
from modelexport_exporter.core.types import ExportTask, Rung
from zoo.tasks import spec_for

EAGER = torch.nn.Linear(2, 2)
SCRIPTED = torch.jit.script(EAGER)
DYNAMO, SCRIPT = Exporter.DYNAMO, Exporter.TORCH_SCRIPT


def task(asked: Exporter, rung: Rung, *, force: bool = False) -> ExportTask:
    spec = spec_for("shapes:build", export={"exporter": asked.value})
    return ExportTask(spec, Path("/checkpoint"), None, Path("/output"), rung, force)


@pytest.mark.parametrize(
    ("asked", "rung", "checkpoint", "module"),
    [
        (Exporter.AUTO, Rung.DYNAMO, Format.STATE_DICT, EAGER),
        (Exporter.AUTO, Rung.SCRIPT, Format.TORCH_SCRIPT, SCRIPTED),
        (Exporter.AUTO, Rung.DYNAMO, Format.EXPORTED_PROGRAM, EAGER),
        (SCRIPT, Rung.TRACE, Format.STATE_DICT, EAGER),
        (SCRIPT, Rung.SCRIPT, Format.TORCH_SCRIPT, SCRIPTED),
        (DYNAMO, Rung.DYNAMO_STRICT, Format.EXPORTED_PROGRAM, EAGER),
    ],
)
def test_the_rung_fits(
    asked: Exporter, rung: Rung, checkpoint: Format, module: torch.nn.Module
) -> None:
    check_route(task(asked, rung), checkpoint, module)


@pytest.mark.parametrize(
    ("asked", "rung", "checkpoint"),
    [
        (DYNAMO, Rung.SCRIPT, Format.TORCH_SCRIPT),
        (SCRIPT, Rung.DYNAMO, Format.EXPORTED_PROGRAM),
    ],
)
def test_a_graph_goes_through_its_own_route(
    asked: Exporter, rung: Rung, checkpoint: Format
) -> None:
    with pytest.raises(ExportFailure, match="contains its graph"):
        check_route(task(asked, rung), checkpoint, EAGER)


def test_a_compiled_module_waits_for_the_other_route() -> None:
    with pytest.raises(RouteFallback, match=r"torch\.export does not accept"):
        check_route(task(Exporter.AUTO, Rung.DYNAMO), Format.STATE_DICT, SCRIPTED)
    with pytest.raises(ExportFailure) as caught:
        check_route(task(DYNAMO, Rung.DYNAMO, force=True), Format.STATE_DICT, SCRIPTED)
    assert not isinstance(caught.value, RouteFallback)
