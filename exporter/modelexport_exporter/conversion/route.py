"""Which of torch's two ways to ONNX an export takes."""

from __future__ import annotations

from modelexport_api.reasons import Reason
from modelexport_api.spec import Exporter, Format
from modelexport_exporter.failure import ExportFailure


def choose_route(asked: Exporter, checkpoint: Format) -> Exporter:
    """Return Dynamo or TorchScript; fail where the checkpoint's format leaves no choice."""
    only = {
        Format.TORCH_SCRIPT: Exporter.TORCH_SCRIPT,
        Format.EXPORTED_PROGRAM: Exporter.DYNAMO,
    }.get(checkpoint)
    if asked is Exporter.AUTO:
        return only or Exporter.DYNAMO
    if only is not None and asked is not only:
        raise ExportFailure(
            Reason.CAPTURE_FAILED,
            f"export.exporter is {asked.value}, but a checkpoint of format {checkpoint.value} "
            f"carries its graph and goes through {only.value}",
            "Leave export.exporter out, or export a state_dict with model.factory.",
        )
    return asked
