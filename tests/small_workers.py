"""Workers and preloads for tests of everything around the real workers: fast, without torch.

What they do is chosen by `model.kwargs.behaviour` of the spec.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path

from modelexport_api.reasons import Reason
from modelexport_api.spec import Exporter
from modelexport_api.status import Stage, Verdict, VerificationResult
from modelexport_exporter.core.comparison import (
    OutputComparison,
    Problem,
    ProblemKind,
    SampleComparison,
)
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.outcome import Unanswered, VerificationOutcome
from modelexport_exporter.core.types import (
    ROUTES,
    ConvertedModel,
    ExportTask,
    FactoryProgress,
    ReportProgress,
    Rung,
    WrittenFile,
)
from modelexport_exporter.isolation.messages import InvalidMessageError
from modelexport_exporter.isolation.peer import Answerer, Asker, PeerEndedError


def behaviour(task: ExportTask) -> str:
    return str(task.spec.model.kwargs.get("behaviour", "")) if task.spec.model else ""


def export(task: ExportTask, report: ReportProgress) -> ConvertedModel:
    """Write a `model.onnx` that names its data, and data made of the checkpoint's bytes."""
    report(Stage.LOAD, 0.0, "reading")
    report(Stage.LOAD, 0.5, FactoryProgress("calling factory small:build"))
    act(behaviour(task))
    report(Stage.CONVERT, 0.0, "writing")
    files = [task.checkpoint] if task.checkpoint.is_file() else sorted(task.checkpoint.iterdir())
    data = b"".join(file.read_bytes() for file in files)
    name = f"model.{hashlib.sha256(data).hexdigest()[:12]}.data"
    model = json.dumps({"data": name}).encode()
    written = []
    for file, content in ((name, data), ("model.onnx", model)):
        (task.output_dir / file).write_bytes(content)
        written.append(WrittenFile(file, len(content), hashlib.sha256(content).hexdigest()))
    if behaviour(task) == "name others":
        written.append(WrittenFile("../../checkpoint", 1, "0"))
    if behaviour(task) == "link":
        (task.output_dir / "model.onnx").unlink()
        (task.output_dir / "model.onnx").symlink_to(task.output_dir / name)
    return ConvertedModel(
        model_path=task.output_dir / "model.onnx",
        files=tuple(written),
        opset=20,
        ir_version=10,
        exporter="Small",
        inputs=(),
        outputs=(),
        op_counts={"Gemm": 1},
        seconds={"Load": 0.25, "Convert": 0.5},
    )


def verify(
    task: ExportTask, converted: ConvertedModel, report: ReportProgress
) -> VerificationOutcome:
    """Verify successfully, unless the checkpoint says otherwise."""
    report(Stage.VERIFY, 0.5, "comparing")
    assert converted.model_path.is_file()
    if behaviour(task) == "rewrite":
        for file in converted.files:
            (task.output_dir / file.name).write_bytes(bytes(file.size_bytes))
    wrong = behaviour(task) == "mismatch"
    error = float("inf") if wrong else 1e-7
    problem = Problem(ProblemKind.VALUES, "off by far") if wrong else None
    compared = OutputComparison("y", error, error, 1e-4, problem)
    return VerificationOutcome(
        summary=VerificationResult(
            verdict=Verdict.MISMATCH if wrong else Verdict.VERIFIED,
            provider="CPU",
            samples=1,
            max_abs_error=error,
            max_rel_error=error,
            tolerance_source="Default",
        ),
        samples=(SampleComparison({"batch": 3}, 0, (compared,)),),
        seconds=0.125,
    )


def imported(_report: ReportProgress) -> list[str]:
    """Return the names of the modules that this process has imported."""
    return sorted(sys.modules)


def may_use_a_gpu(_report: ReportProgress) -> bool:
    """Return whether the process that this one was forked from left CUDA alone."""
    import torch

    return not torch.cuda._is_in_bad_fork()


def act(name: str, report: ReportProgress | None = None) -> object:
    """Do what user code does at its worst."""
    actions: dict[str, Callable[[], object]] = {
        "": lambda: "fine",
        **dict.fromkeys(("mismatch", "name others", "link", "rewrite"), lambda: None),
        "print": _print,
        "exit": lambda: sys.exit(3),
        "_exit": lambda: os._exit(4),
        "kill": lambda: os.kill(os.getpid(), signal.SIGKILL),
        "segfault": lambda: ctypes.string_at(0),
        "hang": lambda: time.sleep(600),
        "memory error": _raise(MemoryError("no more")),
        "disk full": _raise(OSError(28, "No space left on device", "/somewhere")),
        "bug": _raise(KeyError("oops")),
        "typed": _raise(ExportFailure(Reason.CAPTURE_FAILED, "no", "yes", stage=Stage.CAPTURE)),
        "orphan": lambda: subprocess.Popen(["sleep", "600"]).pid,
        "credentials": _credentials,
        "eat memory": lambda: [bytearray(b"x") * (64 << 20) for _ in range(64)] and None,
    }
    if name == "die in the factory":
        assert report is not None
        report(Stage.LOAD, 0.5, FactoryProgress("calling factory small:build"))
        os._exit(5)
    return actions[name]()


def act_in(place: str, task: ExportTask) -> None:
    """Do what `<place> <name>` says, if it is said of this place."""
    where, _, name = behaviour(task).partition(" ")
    if where == place:
        act(name)


def _print() -> None:
    print('{"time": "now", "level": "info", "message": "I am no progress"}')
    print("to stderr", file=sys.stderr)
    subprocess.run(["echo", "from a child"], check=True)


def _credentials() -> list[str]:
    """What is there now, and what the process was started with."""
    started_with = Path("/proc/self/environ").read_bytes().decode(errors="replace").split("\0")
    return [entry for entry in (*os.environ, *started_with) if entry.startswith("AWS_")]


def _raise(error: Exception) -> Callable[[], None]:
    def action() -> None:
        raise error

    return action


class Counter:
    """What a resident keeps between calls: a sum."""

    def __init__(self) -> None:
        self._sum = 0

    def add(self, amount: int, report: ReportProgress) -> int:
        report(Stage.LOAD, 0.0, "adding")
        self._sum += amount
        return self._sum

    def say(self, text: str, _report: ReportProgress) -> None:
        sys.stdout.write(text + "\n")

    def fail(self, _report: ReportProgress) -> None:
        raise ExportFailure(Reason.CHECKPOINT_CORRUPT, "it is cut off", "Upload it again.")

    def crash(self, _report: ReportProgress) -> float:
        return 1 / 0

    def die(self, _report: ReportProgress) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def sleep(self, _report: ReportProgress) -> None:
        time.sleep(60)


class SmallReference:
    """Gets ready while the file is made: what it does, `behaviour` says."""

    def __init__(self, channel: Connection) -> None:
        self._answerer = Answerer(channel)
        self._prepared: list[Rung] = []

    def prepare(self, task: ExportTask, _report: ReportProgress) -> None:
        print("prepared", flush=True)
        act_in("standby", task)
        self._prepared.append(task.rung)

    def answer(self, task: ExportTask, report: ReportProgress) -> None:
        report(Stage.VERIFY, 0.0, "answering")
        act_in("answer", task)
        self._answerer.serve({"prepared": (lambda: self._prepared, list[Rung])})


class SmallJudge:
    """Returns what the reference was prepared for, and what it judges."""

    def __init__(self, reference: Connection) -> None:
        self._reference = Asker(reference)

    def prepare(self, _report: ReportProgress) -> None:
        """Do nothing."""

    def judge(
        self, task: ExportTask, _converted: ConvertedModel, _report: ReportProgress
    ) -> list[Rung] | Unanswered:
        try:
            return [*self._reference.ask("prepared", (), list[Rung]), task.rung]
        except PeerEndedError:
            return Unanswered()
        except InvalidMessageError as error:
            return Unanswered(str(error))
        finally:
            self._reference.end()


def verify_anew(task: ExportTask, _converted: ConvertedModel, _report: ReportProgress) -> str:
    return f"anew {task.rung.value}"


def convert(task: ExportTask, report: ReportProgress) -> str:
    """Load and convert: the verifier may get ready then."""
    report(Stage.LOAD, 0.0, "reading")
    report(Stage.CONVERT, 0.0, "writing")
    return task.rung.value


class DyingResidentExporter:
    """Exports as the real one does, and dies when it is asked for another checkpoint."""

    def export(self, task: ExportTask, report: ReportProgress) -> ConvertedModel:
        from modelexport_exporter.workers.export import export_model

        return export_model(task, report)

    def rebind(self, _task: ExportTask, _report: ReportProgress) -> None:
        os.kill(os.getpid(), signal.SIGKILL)


class DoubtingJudge:
    """Refuses files of `run-1.pt`, once the next checkpoint was bound to the graph of them."""

    refused: frozenset[Rung] = frozenset(Rung)

    def __init__(self, reference: Connection) -> None:
        from modelexport_exporter.workers.judge import Judge

        self._judge = Judge(reference)

    def judge(
        self, task: ExportTask, converted: ConvertedModel, report: ReportProgress
    ) -> VerificationOutcome | Unanswered:
        outcome = self._judge.judge(task, converted, report)
        if task.checkpoint.name != "run-1.pt" or task.rung not in self.refused:
            return outcome
        if ROUTES[task.rung] is Exporter.DYNAMO:
            _wait_for(task.output_dir.parent, "*-rebound-*/model.onnx")
        raise ExportFailure(Reason.VERIFICATION_FAILED, "it is doubted", "Trust it.")


class FirstRungDoubtingJudge(DoubtingJudge):
    """Refuses what the first rung made of `run-1.pt`."""

    refused = frozenset({Rung.DYNAMO})


def _wait_for(directory: Path, pattern: str) -> None:
    deadline = time.monotonic() + 60
    while not list(directory.glob(pattern)):
        if time.monotonic() > deadline:
            msg = f"no {pattern} in {directory}"
            raise TimeoutError(msg)
        time.sleep(0.05)
