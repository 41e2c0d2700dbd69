"""How much memory an export will need, from what is known before the download. Pure.

What counts is anonymous memory: a mapped checkpoint and external data are page cache, which the
kernel takes back. So the peak is a fixed part for the processes (supervisor, fork server, exporter,
reference, judge: mostly torch and its exporter), and copies of the weights where a stage has some:
the exporter's, and from its capture on the reference's, which loads the model too if there is
memory for both, and otherwise when the exporter has ended: the lean path.

The fixed parts were measured by `python -m benchmarks.memory`: the peak of the proportional share
of anonymous pages over the process tree, every 0.2 s, for networks of 0.02 MB to 1.1 GB. That of a
build without CUDA is lower by what `import torch` takes less (304 MB against 158 MB). The copies
follow from how a checkpoint is read: `torch.load` and `torch.jit.load` of a file that is not mapped
take its size.

Not predicted, because nothing in the checkpoint states it: what the user's code allocates, weights
that a factory makes before the checkpoint's are assigned, activations of large samples, a reduced
precision, and host memory of a GPU's driver. So `lower_bytes` counts only what no export can avoid,
and a run is refused by it alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from modelexport_api.status import Stage

MEGABYTE = 1_000_000


class Loading(StrEnum):
    """What torch does with the bytes of a checkpoint."""

    MAPPED = "mapped"
    """zip files of torch.save, safetensors, shards and DistributedCheckpoints of them."""
    COPIED = "copied"
    """TorchScript archives and files of torch.save from before torch 1.6."""
    UNKNOWN = "unknown"
    """ExportedPrograms, and what was not recognised. Predicted as one that is copied."""


@dataclass(frozen=True)
class Plan:
    """What is known of an export before its checkpoint is downloaded."""

    weights_bytes: int
    loading: Loading
    cuda: bool = True
    """Whether torch is a build with CUDA, whose import takes more memory."""


@dataclass(frozen=True)
class Prediction:
    """The memory of an export in bytes."""

    stages: Mapping[Stage, int]
    """All processes together, by the lean path."""
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
_WITH_THE_MODEL = frozenset({Stage.LOAD, Stage.CAPTURE, Stage.CONVERT, Stage.VERIFY})


def predict(plan: Plan) -> Prediction:
    """Return the predicted memory of an export."""
    fixed = CUDA if plan.cuda else 0
    copied = 0 if plan.loading is Loading.MAPPED else plan.weights_bytes
    stages = {
        stage: base + fixed + (copied if stage in _WITH_THE_MODEL else 0)
        for stage, base in FIXED.items()
    }
    certain = plan.weights_bytes if plan.loading is Loading.COPIED else 0
    return Prediction(stages, LOWER_FIXED + certain)


def is_impossible(prediction: Prediction, limit_bytes: int) -> bool:
    """Return whether no export of this plan fits into the limit."""
    return prediction.lower_bytes > CLEARLY * limit_bytes
