"""The values that stages pass to each other: plain and immutable.

They travel to the supervisor as JSON.

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
from modelexport_exporter.core.sample import Values, label
from modelexport_exporter.core.tried_input import TriedInput

ReportProgress = Callable[[Stage, float, str], None]
"""Called as (stage, fraction of the stage that is done, what is being done)."""


class FactoryProgress(str):
    """A progress message of a worker that runs the user's factory or imports the user's code.

    A worker that dies then was ended by the user's code. Any other message ends that phase.
    """

    __slots__ = ()


class StageResult(str):
    """In place of a progress message: what a stage that has succeeded found, `1,204 nodes`."""

    __slots__ = ("seconds",)
    seconds: float

    def __new__(cls, text: str, seconds: float) -> StageResult:
        """Return a result; `seconds`: how long the stage took."""
        made = super().__new__(cls, text)
        made.seconds = seconds
        return made


class Rung(StrEnum):
    """One way from a module to ONNX; `ladder` decides which ones are tried, and in which order."""

    DYNAMO = "Dynamo"
    """torch.export, non-strict: the forward pass runs as Python on symbolic tensors."""
    DYNAMO_STRICT = "DynamoStrict"
    """torch.export, strict: the forward pass's bytecode is read."""
    DYNAMO_BY_SIZE = "DynamoBySize"
    """torch.export for each side of the model's conditions on sizes, joined by If."""
    DYNAMO_UNOPTIMIZED = "DynamoUnoptimized"
    """torch.export, and the translation as it is: the optimizer may keep stale shapes."""
    SCRIPT = "Script"
    """torch.jit.script: control flow over values stays control flow."""
    DYNAMO_BY_VALUE = "DynamoByValue"
    """torch.export for each path through the branches on values, joined by If."""
    TRACE = "Trace"
    """torch.jit.trace: what ran for one set of inputs."""


ROUTES: dict[Rung, Exporter] = {
    Rung.DYNAMO: Exporter.DYNAMO,
    Rung.DYNAMO_STRICT: Exporter.DYNAMO,
    Rung.DYNAMO_BY_SIZE: Exporter.DYNAMO,
    Rung.DYNAMO_UNOPTIMIZED: Exporter.DYNAMO,
    Rung.SCRIPT: Exporter.TORCH_SCRIPT,
    Rung.DYNAMO_BY_VALUE: Exporter.DYNAMO,
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
    """The input of a worker; all paths are on this machine."""

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
    """Whether to take it although a plugin prefers the other route."""
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
class PointedFile:
    """A file of the checkpoint that the ONNX file has as external data."""

    name: str
    """Under which it is published."""
    source: str
    """In the checkpoint."""
    tensors: int
    """Initializers that point into it."""
    pointed_bytes: int


@dataclass(frozen=True)
class PointedWeights:
    """Which large initializers are in the checkpoint's own bytes (`weights: InCheckpoint`)."""

    files: tuple[PointedFile, ...]
    others: int
    """Large initializers that the checkpoint does not have."""
    other_bytes: int

    @property
    def share(self) -> float:
        """Return the part of the weights' bytes that is in the checkpoint."""
        pointed = sum(file.pointed_bytes for file in self.files)
        return pointed / (pointed + self.other_bytes) if pointed else 0.0


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
    """`layer1.0.conv1`; empty for the root module."""
    module_class: str
    """Its class with the Python module, if the file names it."""
    nodes: int
    parameters: int


@dataclass(frozen=True)
class SizeGuard:
    """A condition on dims that the capture assumed, and that some declared sizes do not fulfil."""

    condition: str
    """`n != 50`"""
    line: str
    """`net.py:15`; empty where it is unknown."""
    sizes: tuple[dict[str, int], ...]
    """Sizes that do not fulfil it, the smallest first, to be compared."""
    others: tuple[dict[str, int], ...] = ()
    """More of them, where eager PyTorch may take a path of its own."""

    def __str__(self) -> str:
        """Return `n != 50 (net.py:15)`."""
        return f"{self.condition} ({self.line})" if self.line else self.condition


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
    """Differences that are reported but do not fail the export: a dropped unused input."""
    modules: tuple[ModuleScope, ...] = ()
    """The tree of modules that the nodes come from, each before its own."""
    weight_inputs: dict[str, str] = field(default_factory=dict)
    """Inputs that a consumer feeds with weights: name in the file -> key in the state_dict."""
    seconds: dict[str, float] = field(default_factory=dict)
    """Wall time by stage."""
    guards: tuple[SizeGuard, ...] = ()
    """What the graph assumes of its sizes."""
    sizes_as_text: bool = False
    """Whether the model wrote sizes as text during the capture, which has no numbers for them."""
    pointed: PointedWeights | None = None
    """What is in the checkpoint's own bytes, for `weights: InCheckpoint`."""


def limit_share(error: float, limit: float, *, wrong: bool) -> float:
    """Return an error as a share of its limit; infinite for what no tolerance covers."""
    if not math.isfinite(error):
        return math.inf
    share = error / limit if limit > 0 else (math.inf if error > 0 else 0.0)
    return math.inf if wrong and share <= 1 else share


class ProblemKind(StrEnum):
    """How an output of the file differs from eager's."""

    OUTPUT_COUNT = "number of outputs"
    DTYPE = "dtype"
    SHAPE = "shape"
    NOT_FINITE = "NaN and infinities"
    """NaN or infinities at other positions, while all finite elements are within the limit."""
    VALUES = "values"
    GOLDEN = "golden output"
    """Eager PyTorch does not return the recorded output."""
    NOT_DETERMINISTIC = "eager PyTorch"
    """Two eager runs of the same sample differ."""


NO_TOLERANCE = frozenset({ProblemKind.DTYPE, ProblemKind.SHAPE, ProblemKind.NOT_FINITE})
"""Differences that no tolerance covers."""


@dataclass(frozen=True)
class Problem:
    """A difference between an output and eager's: the kind decides, the text is for the user."""

    kind: ProblemKind
    text: str


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
    problem: Problem | None = None
    """None if the outputs agree."""
    noise: float | None = None
    """The model's own rounding error, relative to the peak; None where it was not measured."""
    errors: int = 0
    """Number of elements beyond the limit."""
    unsettled: int = 0
    """Number of elements that change with the model's own rounding; they do not count."""
    inconclusive: str = ""
    """Why this sample decides nothing about the output; empty where it is conclusive."""
    has_elements: bool = True
    """Whether there was anything to compare; a shape and a dtype alone agree with most files."""
    all_nan: bool = False
    """Whether all elements are NaN in both, as where a mask leaves nothing: that shows nothing."""


@dataclass(frozen=True)
class SampleComparison:
    """One set of inputs: ONNX against eager."""

    dims: dict[str, int]
    seed: int
    outputs: tuple[OutputComparison, ...]
    values: Values = Values.NORMAL
    reordered: bool = False
    """Whether eager ranked equal values in the order of ONNX, which its own ops do not specify."""

    @property
    def differs(self) -> bool:
        """Return whether an output disagrees with eager."""
        return any(output.problem for output in self.outputs)

    @property
    def label(self) -> str:
        """Return the name of the values in messages and reports."""
        return label(self.values, self.seed, reordered=self.reordered)


class Unreached(StrEnum):
    """What no sample reached."""

    ELEMENTS = "elements"
    """An output was empty in all samples."""
    NUMBERS = "numbers"
    """An output was NaN in all elements of all samples."""
    SIDE = "side"
    """A branch on values went the same way in all samples, and the graph holds that way only."""
    NUMBER = "number"
    """Python computed with a value of the capture's inputs, and the graph holds the result."""
    SIDE_OF_FILE = "side of the file"
    """A branch on values that the file holds both sides of went the same way in all samples."""
    SIZE = "size"
    """Sizes for which the graph was not made were too costly to run."""


@dataclass(frozen=True)
class NotCompared:
    """A part of the model that no sample reached: the kind decides, the subject is for the user."""

    kind: Unreached
    subject: str
    """`output boxes`, or ``net.py:12: `if x.max() > 400:```."""

    def __str__(self) -> str:
        if self.kind is Unreached.ELEMENTS:
            return f"{self.subject} had no elements in any sample"
        if self.kind is Unreached.NUMBERS:
            return f"{self.subject} was NaN in all elements of all samples"
        if self.kind is Unreached.NUMBER:
            return f"{self.subject} computes with a value in Python: the file holds one result"
        if self.kind is Unreached.SIDE_OF_FILE:
            return f"{self.subject} ran in no sample"
        if self.kind is Unreached.SIZE:
            return f"{self.subject} was not compared where it fails: those sizes cost too much"
        return f"{self.subject} went the same way in all samples"


@dataclass(frozen=True)
class Unanswered:
    """Why a verification has no outcome: another process ended, or what it said is no answer."""

    invalid: str = ""
    """What it said; empty if it ended."""


@dataclass(frozen=True)
class VerificationOutcome:
    """The verdict and its evidence."""

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
    guards: tuple[SizeGuard, ...] = ()
    """What the graph assumes of its sizes."""
    not_compared: tuple[NotCompared, ...] = ()
    """What no sample reached."""
    converted: ConvertedModel | None = None
    """The file as it is after the verification: with true shapes of its outputs."""
    tried: tuple[TriedInput, ...] = ()
    """What the inputs of all samples were, by input."""
    rows_independent: bool | None = None
    """Whether rows of a batch do not affect each other; None: not measured."""

    @property
    def not_deterministic(self) -> bool:
        """Return whether the first difference is one between two eager runs."""
        found = self.first_problem
        return found is not None and found[2].kind is ProblemKind.NOT_DETERMINISTIC

    @property
    def first_problem(self) -> tuple[SampleComparison, OutputComparison, Problem] | None:
        """Return the first output that disagrees with eager, with its sample."""
        for sample in self.samples:
            for output in sample.outputs:
                if output.problem:
                    return sample, output, output.problem
        return None
