"""The values that stages pass to each other: plain and immutable.

They travel to the supervisor as JSON.

supervisor             child `export_worker`                     child `verify_worker`
fetch -> ExportTask -> load -> capture -> convert -> contract -> verify
                       = ConvertedModel                          = VerificationOutcome -> publish
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from modelexport_api.spec import Exporter, ModelExportSpec
from modelexport_api.status import Stage, TensorInfo

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
