"""How much memory an export will need, from what is known before the download. Pure.

What counts is anonymous memory: a mapped checkpoint and external data are page cache, which the
kernel takes back. So the peak is a fixed part for the processes (supervisor, fork server, exporter,
reference, judge: mostly torch and its exporter), and copies of the weights where a stage has some.

The constants were measured by `python -m benchmarks.memory`: the peak of the proportional share of
anonymous pages over the process tree, every 0.2 s, for networks of 0.02 MB to 1.1 GB (digits CNN,
ResNet-18, BERT-base, a decoder), in the formats and precisions that differ. Not predicted, because
nothing in the checkpoint states it: what the user's code allocates, activations of large samples,
and host memory of a GPU's driver. So `lower_bytes` counts only what no export can avoid, and a run
is refused by it alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from modelexport_api.export import Precision
from modelexport_api.status import Stage

MEGABYTE = 1_000_000


class Loading(StrEnum):
    """What torch does with the bytes of a checkpoint."""

    MAPPED = "mapped"
    """zip files of torch.save, safetensors, shards and DistributedCheckpoints of them."""
    COPIED = "copied"
    """TorchScript archives and files of torch.save from before torch 1.6."""
    UNKNOWN = "unknown"
    """ExportedPrograms, and what was not recognised."""


@dataclass(frozen=True)
class Plan:
    """What is known of an export before its checkpoint is downloaded."""

    weights_bytes: int
    loading: Loading
    precision: Precision = Precision.NATIVE
    cuda: bool = True
    """Whether torch is a build with CUDA, whose import takes more memory."""


@dataclass(frozen=True)
class Prediction:
    """The memory of an export in bytes."""

    stages: Mapping[Stage, int]
    lower_bytes: int
    """What each export of this plan needs at least."""

    @property
    def peak_bytes(self) -> int:
        """Return the largest of the stages."""
        return max(self.stages.values())


FIXED = {
    Stage.LOAD: 405 * MEGABYTE,
    Stage.CAPTURE: 580 * MEGABYTE,
    Stage.CONVERT: 710 * MEGABYTE,
    Stage.VERIFY: 610 * MEGABYTE,
    Stage.PUBLISH: 335 * MEGABYTE,
}
"""All processes together, with a build of torch for CPUs."""
CUDA = 150 * MEGABYTE
"""More for a build with CUDA: relocations of its libraries, shared by the forked processes."""
LOWER_FIXED = 200 * MEGABYTE
"""Torch, imported once (160 MB), and the supervisor (50 MB)."""
CLEARLY = 1.05
"""How many times the limit the lower bound has to be before a run is refused."""

_COPIES = {
    Loading.MAPPED: {},
    Loading.COPIED: {Stage.LOAD: 1.0, Stage.CAPTURE: 1.0, Stage.CONVERT: 2.0, Stage.VERIFY: 1.0},
    Loading.UNKNOWN: {Stage.LOAD: 1.0, Stage.CAPTURE: 1.0, Stage.CONVERT: 1.0, Stage.VERIFY: 1.0},
}


def predict(plan: Plan) -> Prediction:
    """Return the predicted memory of an export."""
    fixed = CUDA if plan.cuda else 0
    copies = _COPIES[plan.loading]
    stages = {
        stage: base + fixed + round(copies.get(stage, 0.0) * plan.weights_bytes)
        for stage, base in FIXED.items()
    }
    least = plan.weights_bytes if plan.loading is Loading.COPIED else 0
    return Prediction(stages, LOWER_FIXED + least)


def is_impossible(prediction: Prediction, limit_bytes: int) -> bool:
    """Return whether no export of this plan fits into the limit."""
    return prediction.lower_bytes > CLEARLY * limit_bytes
