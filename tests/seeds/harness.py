"""Exports a case through the product's own pipeline and judges what was published.

The workers, their isolation, the ladder and the verification are the product's; only the judgement
is the tests': eager PyTorch against onnxruntime, at sizes and values of their own (`feeds`). A
right file ends as RIGHT, a refusal as REFUSED, and a file that was published although it computes
something else as WRONG: nothing is worse.
"""

from __future__ import annotations

import copy
import importlib
import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
import torch

from fuzz.rankings import ByIndex
from modelexport_api.pod import PodResult
from modelexport_api.resource import ModelExport
from modelexport_api.status import Failure, Progress
from modelexport_exporter.core.log import Level
from modelexport_exporter.pipeline.context import Settings
from modelexport_exporter.pipeline.run import run
from seeds.case import Array, Case, Refusal
from seeds.compare import cancellation, difference
from seeds.feeds import feeds_for
from seeds.recording import Finding, Outcome, Recorder

CODE = Path(__file__).parent / "code"


@dataclass
class Lines:
    """A log that keeps its messages."""

    lines: list[str] = field(default_factory=list)

    def log(self, level: Level, message: str, **fields: Any) -> None:  # noqa: ANN401
        self.lines.append(f"{level}: {message} {fields or ''}")

    def progress(self, progress: Progress, **fields: Any) -> None:  # noqa: ANN401
        """Forget it."""


@dataclass(frozen=True)
class Exported:
    """The result of a case."""

    case: Case
    module: torch.nn.Module
    """Eager, with the weights of the checkpoint."""
    result: PodResult
    directory: Path
    """Where the artifact and the report were published."""
    log: tuple[str, ...]
    seconds: float

    @property
    def model_path(self) -> Path:
        return self.directory / "model.onnx"

    @property
    def route(self) -> str:
        """Return the rung that won: Trace of `TorchScript (Trace, torch 2.15.0)`."""
        assert self.result.artifact is not None
        route, _, details = self.result.artifact.exporter.partition(" (")
        rung, _, version = details.partition(", ")
        return rung if version else route


class Function(torch.nn.Module):
    """Calls a function made with torch.jit.script; it has no weights."""

    def __init__(self, function: Any) -> None:  # noqa: ANN401
        super().__init__()
        self.function = function

    def forward(self, *args: torch.Tensor) -> object:
        return self.function(*args)

    def __deepcopy__(self, _memo: object) -> Function:
        """Return itself: it has nothing that a call could change, and cannot be pickled."""
        return self


def build_module(case: Case) -> torch.nn.Module:
    """Return the case's module: from its factory, with statistics that are not trivial, settled.

    The same weights whenever it is called: the checkpoint is written from one, and the reference
    is another.
    """
    name, _, attribute = case.factory.partition(":")
    torch.manual_seed(0)
    factory = getattr(importlib.import_module(f"seeds.code.{name}"), attribute)
    made: object = factory(**case.kwargs)
    if not isinstance(made, torch.nn.Module):
        return Function(made)
    module = made
    for buffer_name, buffer in module.named_buffers():
        if buffer_name.endswith("running_mean"):
            buffer.normal_(std=0.5)
        elif buffer_name.endswith("running_var"):
            buffer.uniform_(0.5, 2.0)
    if case.settle is not None:
        case.settle(module)
    return module.train(bool(case.model.get("training")))


def manifest(case: Case, checkpoint: Path, destination: Path) -> dict[str, Any]:
    """Return the resource as a user would write it."""
    uri = f"file://{checkpoint}{'/' if checkpoint.is_dir() else ''}"
    return {
        "apiVersion": "modelexport.dev/v1alpha1",
        "kind": "ModelExport",
        "metadata": {"name": "seed"},
        "spec": {
            "source": {"uri": uri, **case.source},
            "model": {
                "factory": case.factory,
                "kwargs": dict(case.kwargs),
                "code": {"uri": f"file://{CODE}/"},
                **case.model,
            },
            "inputs": [dict(entry) for entry in case.inputs],
            "dims": {name: {"min": low, "max": high} for name, (low, high) in case.dims.items()},
            "outputs": list(case.outputs),
            "export": dict(case.export),
            "verification": {"provider": "CPU", "benchmark": False},
            "destination": {"uri": f"file://{destination}/"},
            **case.spec,
        },
    }


def export(case: Case, directory: Path) -> Exported:
    """Run the pipeline on the case below the directory."""
    checkpoint = case.checkpoint(build_module(case), directory)
    destination = directory / "artifact"
    resource = ModelExport.model_validate(manifest(case, checkpoint, destination))
    log = Lines()
    begin = time.monotonic()
    result = run(resource, Settings(directory / "work"), log)
    seconds = time.monotonic() - begin
    return Exported(case, build_module(case), result, destination, tuple(log.lines), seconds)


def eager(case: Case, module: torch.nn.Module, feed: Mapping[str, Array]) -> list[Array]:
    """Return what a fresh copy of the module answers, flat."""
    tensors = {name: torch.from_numpy(np.array(values)) for name, values in feed.items()}
    with torch.no_grad(), ByIndex() if case.tied else nullcontext():
        answer = case.call(copy.deepcopy(module), tensors)
    leaves = torch.utils._pytree.tree_leaves(answer)
    return [np.asarray(torch.as_tensor(leaf).numpy()) for leaf in leaves if leaf is not None]


def open_session(path: Path) -> onnxruntime.InferenceSession:
    """Return onnxruntime's session, on the CPU and without its warnings."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def fed(session: Any, feed: Mapping[str, Array]) -> dict[str, Any]:  # noqa: ANN401
    """Return what of the feed the file takes; a list where it takes a sequence."""
    given: dict[str, Any] = {}
    for entry in session.get_inputs():
        if entry.name in feed:
            given[entry.name] = feed[entry.name]
        elif entry.type.startswith("seq("):
            parts = (name for name in feed if name.rpartition(".")[0] == entry.name)
            given[entry.name] = [feed[name] for name in parts]
    return given


def judge(exported: Exported, session: Any = None) -> tuple[str, float]:  # noqa: ANN401
    """Return what the published file computes otherwise than eager, and the worst error."""
    case = exported.case
    session = session or open_session(exported.model_path)
    worst = 0.0
    for position, feed in enumerate(feeds_for(case)):
        want = eager(case, exported.module, feed)
        shapes = {name: list(values.shape) for name, values in feed.items()}
        try:
            have = session.run(None, fed(session, feed))
        except Exception as error:  # noqa: BLE001 - whatever onnxruntime raises is a wrong file
            return f"feed {position} {shapes}: onnxruntime fails: {error}", float("inf")
        if len(want) != len(have):
            return f"{len(have)} outputs, eager {len(want)}", float("inf")
        for output, expected, got in zip(session.get_outputs(), want, have, strict=True):
            slack = cancellation(feed, expected)
            problem, off = difference(expected, np.asarray(got), case.rtol, slack)
            worst = max(worst, off)
            if problem:
                return f"feed {position} {shapes}, output {output.name}: {problem}", worst
    return "", worst


def said(failure: Failure) -> str:
    """Return all texts of a failure."""
    ops = [f"{op.name} {op.module} {op.source} {op.hint}" for op in failure.ops]
    return "\n".join([failure.message, failure.hint, *ops])


@dataclass
class Bench:
    """Checks cases and records their results."""

    directory: Path
    recorder: Recorder

    def check(self, case: Case, opened: Callable[[Path], Any] = open_session) -> Exported:
        """Export the case, record how it ended, and fail the test unless it ended as expected.

        `opened`: makes what runs the file, with the interface of onnxruntime's session.
        """
        exported = export(case, self.directory)
        failure = exported.result.failure
        if failure is None:
            problem, error = judge(exported, opened(exported.model_path))
            outcome = Outcome.WRONG if problem else Outcome.RIGHT
            self._record(exported, outcome, exported.route, error)
            self._accept_published(exported, problem)
        else:
            self._record(exported, Outcome.REFUSED, failure.reason.value, 0.0)
            self._accept_refusal(exported, failure)
        return exported

    def _record(self, exported: Exported, outcome: Outcome, by: str, error: float) -> None:
        case = exported.case
        rows = tuple(case.rows.split())
        self.recorder.add(
            Finding(
                rows, case.name, outcome, by, case.nightly, case.pinned, error, exported.seconds
            )
        )

    def _accept_published(self, exported: Exported, problem: str) -> None:
        case = exported.case
        if problem:
            pytest.fail(f"a wrong file called verified ({exported.route}): {problem}")
        if case.expected is not None:
            pytest.fail(f"expected {case.expected}, and {exported.route} is right")
        if case.routes and exported.route not in case.routes:
            pytest.fail(f"won by {exported.route}, expected one of {case.routes}")

    def _accept_refusal(self, exported: Exported, failure: Failure) -> None:
        text = f"{failure.reason} at {failure.stage}: {said(failure)}"
        wanted: Refusal | None = exported.case.expected or exported.case.or_refused
        if wanted is None:
            warnings = "\n".join(line[:600] for line in exported.log if line.startswith("warning"))
            pytest.fail(f"expected a verified artifact, got {text}\n{warnings}")
        if failure.reason not in wanted.reasons:
            pytest.fail(f"expected {wanted.reasons}, got {text}")
        missing = [word for word in wanted.words if word.lower() not in text.lower()]
        if missing:
            pytest.fail(f"the refusal does not name {missing}: {text}")


def each(cases: tuple[Case, ...]) -> list[Any]:
    """Return the cases as parameters of a test: every other one runs at night only."""
    by_day = [case.name for case in cases if not case.nightly][::2]
    return [_parameter(replace(case, nightly=case.name not in by_day)) for case in cases]


def _parameter(case: Case) -> Any:  # noqa: ANN401
    marks = [pytest.mark.nightly] if case.nightly else []
    return pytest.param(case, id=case.name, marks=marks)
