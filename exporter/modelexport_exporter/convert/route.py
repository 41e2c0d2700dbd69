"""Whether a rung of the ladder can take a loaded model at all."""

from __future__ import annotations

import torch

from modelexport_api.reasons import Reason
from modelexport_api.spec import Exporter, Format
from modelexport_api.status import Stage
from modelexport_exporter.core.errors import ExportFailure, RouteFallback
from modelexport_exporter.core.types import ROUTES, ExportTask

_CARRIED = {
    Format.TORCH_SCRIPT: Exporter.TORCH_SCRIPT,
    Format.EXPORTED_PROGRAM: Exporter.DYNAMO,
}
"""The route of formats that carry their graph."""


def check_route(task: ExportTask, checkpoint: Format, module: torch.nn.Module) -> None:
    """Fail where the checkpoint's format, or a compiled module, leaves the rung no graph."""
    asked = task.spec.export.exporter
    only = _CARRIED.get(checkpoint)
    if only is not None and asked not in {Exporter.AUTO, only}:
        raise ExportFailure(
            Reason.CAPTURE_FAILED,
            f"export.exporter is {asked.value}, but a checkpoint of format {checkpoint.value} "
            f"carries its graph and goes through {only.value}",
            "Leave export.exporter out, or export a state_dict with model.factory.",
        )
    if ROUTES[task.rung] is Exporter.DYNAMO and isinstance(module, torch.jit.ScriptModule):
        kind = ExportFailure if task.force else RouteFallback
        raise kind(
            Reason.CAPTURE_FAILED,
            "the model is compiled by TorchScript, which torch.export does not take",
            "Set export.exporter: TorchScript, or let model.factory return the module itself.",
            stage=Stage.CAPTURE,
        )
