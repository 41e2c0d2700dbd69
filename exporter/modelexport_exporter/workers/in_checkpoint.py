"""`weights: InCheckpoint`: whether a file can point into its checkpoint, and how much of it does.

A file of which less than half points there is refused: what is published would be larger than the
checkpoint and most of the weights a second time, and nobody asked for that.
"""

from __future__ import annotations

import onnx_ir as ir
import torch

from modelexport_api.reasons import Reason
from modelexport_api.spec import Weights
from modelexport_exporter.checkpoint.tensor_places import stored_files
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.types import ContractFinding, ExportTask, PointedWeights
from modelexport_exporter.onnx_file import untransposed
from modelexport_exporter.onnx_file.stored_tensors import StoredTensors
from modelexport_exporter.onnx_file.write import SMALL_TENSOR

LEAST_SHARE = 0.5
"""Of the bytes of large weights."""
_BATCH_NORMS = (torch.nn.BatchNorm1d, torch.nn.BatchNorm2d, torch.nn.BatchNorm3d)


def stored_tensors(task: ExportTask) -> StoredTensors | None:
    """Return what the checkpoint stores, if the spec wants the file to point there.

    Raises ExportFailure where it stores nothing that a file could point to.
    """
    if task.spec.export.weights is not Weights.IN_CHECKPOINT:
        return None
    return StoredTensors(stored_files(task.checkpoint, task.spec))


def use_stored_weights(model: ir.Model, module: torch.nn.Module, stored: StoredTensors) -> None:
    """Put the checkpoint's weights in place of those that were only transposed."""
    named = (*module.named_parameters(), *module.named_buffers())
    names = {tensor.data_ptr(): name for name, tensor in named}
    untransposed.use_stored_weights(model, stored, names, SMALL_TENSOR)


def keeps_weights(task: ExportTask, module: torch.nn.Module) -> bool:
    """Return whether the optimizer leaves weights as the checkpoint has them, where that matters.

    It folds batch norms into the weights of the convolutions before them: of ResNet-18, 4 % of the
    bytes are left. onnxruntime does the same when it loads the file.
    """
    if task.spec.export.weights is not Weights.IN_CHECKPOINT:
        return True
    return not any(isinstance(part, _BATCH_NORMS) for part in module.modules())


def pointed_findings(weights: PointedWeights) -> tuple[ContractFinding, ...]:
    """Return what the checkpoint does not have. Raises ExportFailure if it is most. Pure."""
    tensors = sum(file.tensors for file in weights.files)
    size = sum(file.pointed_bytes for file in weights.files)
    if not tensors and not weights.others:
        return (_finding("no weights that are larger than a shape or a scalar"),)
    if weights.share < LEAST_SHARE:
        raise ExportFailure(
            Reason.CONTRACT_VIOLATED,
            f"export.weights is InCheckpoint, but {weights.share:.0%} of the weights' bytes are in "
            f"the checkpoint as they are: {tensors:,} tensors of {_mb(size)}; {weights.others:,} "
            f"of {_mb(weights.other_bytes)} are folded, cast or computed",
            "Set export.optimize to false, which leaves weights as they are; save the checkpoint "
            "in the module's own dtype; or leave export.weights out.",
        )
    if not weights.others:
        return ()
    return (
        _finding(
            f"{weights.share:.1%} of the weights' bytes in the checkpoint; {weights.others:,} "
            f"tensors of {_mb(weights.other_bytes)} outside of it: folded, cast or computed"
        ),
    )


def _finding(obtained: str) -> ContractFinding:
    return ContractFinding("weights", Weights.IN_CHECKPOINT.value, obtained)


def _mb(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"
