"""What the stages hand to each other: plain, immutable, picklable values.

supervisor             child `export_worker`                     child `verify_worker`
fetch -> ExportTask -> load -> capture -> convert -> contract -> verify
                       = ConvertedModel                          = VerificationOutcome -> publish
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from modelexport_api.spec import Exporter, ModelExportSpec
from modelexport_api.status import Stage, TensorInfo, VerificationResult
from modelexport_exporter.core.accuracy_loss import AccuracyLoss
from modelexport_exporter.core.blame import Blame
from modelexport_exporter.core.pitfall import Pitfall
from modelexport_exporter.core.providers import Fallback

ReportProgress = Callable[[Stage, float, str], None]
"""Called as (stage, fraction of the stage that is done, what is being done)."""

CALLING_FACTORY = "calling factory"
"""How the message of a worker's progress begins while the user's factory runs: a worker that dies
then was ended by the user's code. Any other message ends that phase."""


class Rung(StrEnum):
    """One way from a module to ONNX; `ladder` decides which ones are tried, and in which order."""

    DYNAMO = "Dynamo"
    """torch.export, non-strict: the forward pass runs as Python on symbolic tensors."""
    DYNAMO_STRICT = "DynamoStrict"
    """torch.export, strict: the forward pass's bytecode is read."""
    DYNAMO_UNOPTIMIZED = "DynamoUnoptimized"
    """torch.export, and the translation as it is: the optimizer may keep stale shapes."""
    SCRIPT = "Script"
    """torch.jit.script: control flow over values stays control flow."""
    TRACE = "Trace"
    """torch.jit.trace: what ran for one set of inputs."""


ROUTES: dict[Rung, Exporter] = {
    Rung.DYNAMO: Exporter.DYNAMO,
    Rung.DYNAMO_STRICT: Exporter.DYNAMO,
    Rung.DYNAMO_UNOPTIMIZED: Exporter.DYNAMO,
    Rung.SCRIPT: Exporter.TORCH_SCRIPT,
    Rung.TRACE: Exporter.TORCH_SCRIPT,
}
"""Which of torch.onnx's two exporters a rung goes through."""


@dataclass(frozen=True)
class SourceFile:
    """A file of the checkpoint, on this machine."""

    name: str
    size_bytes: int
    sha256: str


@dataclass(frozen=True)
class ExportTask:
    """What a worker needs to know; all paths are on this machine."""

    spec: ModelExportSpec
    checkpoint: Path
    """A file, or a directory of safetensors shards."""
    code_dir: Path | None
    """Put on sys.path before the factory is imported."""
    output_dir: Path
    """An empty directory for model.onnx and its external data."""
    rung: Rung = Rung.DYNAMO
    """The way to ONNX that this attempt takes."""
    force: bool = False
    """Whether to take it although a plugin would rather have the other route."""
    runtime_libraries: tuple[Path, ...] = ()
    """Of onnxruntime custom operators, which verification loads."""
    golden_inputs: Path | None = None
    """The file of verification.goldenInputs."""
    calibration_inputs: Path | None = None
    """The file of export.calibrationInputs."""
    proven_graph: bool = False
    """Whether the graph was verified at all sizes already, with another checkpoint's weights."""


@dataclass(frozen=True)
class WrittenFile:
    """A file of the artifact; its digest is taken while it is written."""

    name: str
    size_bytes: int
    sha256: str


@dataclass(frozen=True)
class ContractFinding:
    """Something obtained that differs from what was requested."""

    subject: str
    """`input x dim 0`, `opset`, `output logits`, …"""
    requested: str
    obtained: str


@dataclass(frozen=True)
class ModuleScope:
    """A module of the original model, and what of the file it and its own modules are."""

    path: str
    """`layer1.0.conv1`; empty for the model itself."""
    module_class: str
    """Its class with the Python module, where the file tells."""
    nodes: int
    parameters: int


@dataclass(frozen=True)
class ConvertedModel:
    """An ONNX file on this machine, and what was read back from it."""

    model_path: Path
    files: tuple[WrittenFile, ...]
    opset: int
    ir_version: int
    exporter: str
    """The route and torch's version, `Dynamo (torch 2.15.0)`."""
    inputs: tuple[TensorInfo, ...]
    outputs: tuple[TensorInfo, ...]
    op_counts: dict[str, int]
    """Nodes by operator, `Conv` or `domain::Op`."""
    findings: tuple[ContractFinding, ...] = ()
    """Differences that are told but do not fail the export: an unused input that was dropped."""
    modules: tuple[ModuleScope, ...] = ()
    """The tree of modules that the nodes come from, each before its own."""
    weight_inputs: dict[str, str] = field(default_factory=dict)
    """Inputs that a consumer feeds with weights: name in the file -> key in the state_dict."""
    seconds: dict[str, float] = field(default_factory=dict)
    """Wall time by stage."""


def limit_share(error: float, limit: float, *, wrong: bool) -> float:
    """Return an error as a share of its limit; infinite for what no tolerance covers."""
    if not math.isfinite(error):
        return math.inf
    share = error / limit if limit > 0 else (math.inf if error > 0 else 0.0)
    return math.inf if wrong and share <= 1 else share


@dataclass(frozen=True)
class OutputComparison:
    """One output of one sample: ONNX against eager."""

    output: str
    max_abs_error: float
    max_rel_error: float
    """Relative to the largest finite magnitude of eager's output; where the inputs are degenerate,
    at least to that on ordinary ones."""
    limit: float
    """The absolute error that was allowed; 0 for integer and boolean outputs."""
    problem: str = ""
    """Empty when the outputs agree: what differs, otherwise."""
    only: str = ""
    """What alone differs, so that no tolerance helps: dtype, shape, NaN and infinities."""
    noise: float | None = None
    """What the model errs by itself, relative to the peak; None where that was not measured."""
    errors: int = 0
    """How many elements are beyond the limit."""
    unsettled: int = 0
    """How many elements change with the model's own rounding, and do not count."""
    inconclusive: str = ""
    """Why this sample says nothing about the output; empty where it does."""


@dataclass(frozen=True)
class SampleComparison:
    """One set of inputs: ONNX against eager."""

    dims: dict[str, int]
    seed: int
    outputs: tuple[OutputComparison, ...]
    values: str = "normal"
    """What the elements were drawn from: normal, large, zeros or highest."""


@dataclass(frozen=True)
class VerificationOutcome:
    """The verdict and what it rests on."""

    summary: VerificationResult
    samples: tuple[SampleComparison, ...]
    seconds: float
    left_out: tuple[str, ...] = ()
    """A sentence for each sample that did not run because it would have cost too much."""
    pitfalls: tuple[Pitfall, ...] = ()
    """After a mismatch: lines of the model that may have caused it."""
    blame: Blame | None = None
    """After a mismatch: the first node that computes something else."""
    losses: tuple[AccuracyLoss, ...] = ()
    """What a precision that is not the model's own costs, by output."""
    fallbacks: tuple[Fallback, ...] = ()
    """Nodes that ran on another provider than the one that was asked for."""
    output_shapes: dict[str, tuple[int | str, ...]] = field(default_factory=dict)
    """Shapes of outputs by name, as the session states them: it infers more than files say."""
    rows_independent: bool | None = None
    """Whether rows of a batch were seen not to change each other; None: nobody asked."""

    @property
    def first_problem(self) -> tuple[SampleComparison, OutputComparison] | None:
        """Return the first output that disagrees, with its sample."""
        for sample in self.samples:
            for output in sample.outputs:
                if output.problem:
                    return sample, output
        return None
