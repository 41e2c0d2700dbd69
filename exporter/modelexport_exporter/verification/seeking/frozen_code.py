"""What a file may hold of the branches and numbers that Python computed while it was made."""

from __future__ import annotations

from enum import Enum

from modelexport_api.spec import Mode
from modelexport_exporter.core.dims import used_dims
from modelexport_exporter.core.types import ConvertedModel, ExportTask, Rung


class Branches(Enum):
    """What a graph may hold of the branches of Python on values."""

    NONE = 0
    BOTH_SIDES = 1
    ONE_SIDE = 2
    """A trace holds the side that it was made on."""


def branches_of(task: ExportTask) -> Branches:
    """Return what the task's file may hold of branches of Python on values.

    torch.export refuses most of them, but its strict mode computes some with the example's values.
    """
    if task.proven_graph:
        return Branches.NONE
    both = task.rung in {Rung.SCRIPT, Rung.DYNAMO_BY_VALUE} and task.spec.mode is not Mode.VERIFY
    return Branches.BOTH_SIDES if both else Branches.ONE_SIDE


def may_freeze_sizes(task: ExportTask, converted: ConvertedModel) -> bool:
    """Return whether the task's file may hold what Python computed from sizes of its example.

    torch.export keeps conditions on sizes as guards, except where sizes became text.
    """
    frozen = task.rung is Rung.TRACE or task.spec.mode is Mode.VERIFY or converted.sizes_as_text
    return frozen and not task.proven_graph and bool(used_dims(task.spec.inputs))
