"""Whether a rung of the ladder can export a loaded model at all."""

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
"""The route of formats that contain their graph."""


def check_route(task: ExportTask, checkpoint: Format, module: torch.nn.Module) -> None:
    """Raise ExportFailure if the checkpoint's format, or a compiled module, excludes the rung."""
    asked = task.spec.export.exporter
    only = _CARRIED.get(checkpoint)
    if only is not None and asked not in {Exporter.AUTO, only}:
        raise ExportFailure(
            Reason.CAPTURE_FAILED,
            f"export.exporter is {asked.value}, but a checkpoint of format {checkpoint.value} "
            f"contains its graph and is exported by {only.value}",
            "Omit export.exporter, or export a state_dict with model.factory.",
        )
    if ROUTES[task.rung] is Exporter.DYNAMO and isinstance(module, torch.jit.ScriptModule):
        kind = ExportFailure if task.force else RouteFallback
        raise kind(
            Reason.CAPTURE_FAILED,
            "the model is compiled by TorchScript, which torch.export does not accept",
            "Let model.factory return the module itself, which is not compiled.",
            stage=Stage.CAPTURE,
        )
