"""Explains why a worker ended without an answer: pure, from its exit code, memory and output."""

from __future__ import annotations

import signal
from dataclasses import dataclass

from modelexport_api.reasons import Reason
from modelexport_api.status import Stage
from modelexport_exporter.core import place
from modelexport_exporter.core.cgroup import Memory
from modelexport_exporter.core.errors import ExportFailure

_SHOWN_LINES = 3
_UNKNOWN = 255
"""The exit code that the fork server reports if it does not know."""
_MAYBE_FROM_OUTSIDE = {-signal.SIGKILL, None, _UNKNOWN}
"""Exit codes after which nobody knows that the model's code ended the process."""
_MODEL_RUNS = {Stage.CAPTURE, Stage.CONVERT, Stage.VERIFY}


@dataclass(frozen=True)
class Death:
    """A worker that ended without an answer."""

    exit_code: int | None
    """Negative: the signal that killed it. None: unknown."""
    stage: Stage | None
    in_factory: bool
    """Whether the user's factory was running."""
    before: Memory
    after: Memory
    output: tuple[str, ...] = ()
    """The last lines that it printed."""

    @property
    def exited_in_forward(self) -> bool:
        """Return whether the model's code ended the process; 255 means an unknown exit code."""
        return self.stage in _MODEL_RUNS and self.exit_code in range(_UNKNOWN)

    @property
    def ended_by_factory(self) -> bool:
        """Return whether the user's factory ended the process."""
        return self.in_factory and self.exit_code not in _MAYBE_FROM_OUTSIDE

    @property
    def killed_for_memory(self) -> bool:
        """Return whether this worker was killed while the kernel killed for memory."""
        return (
            self.exit_code in _MAYBE_FROM_OUTSIDE and self.after.oom_kills > self.before.oom_kills
        )


def explain(death: Death) -> ExportFailure:
    """Return the failure for a worker that ended without an answer."""
    how = _describe_exit(death.exit_code)
    if death.killed_for_memory:
        return ExportFailure(
            Reason.OUT_OF_MEMORY,
            f"the kernel killed the worker for memory: {_describe_memory(death.after)}",
            place.more_memory(),
            stage=death.stage,
        )
    last = "; last output: " + " | ".join(death.output[-_SHOWN_LINES:]) if death.output else ""
    if death.ended_by_factory:
        return ExportFailure(
            Reason.FACTORY_FAILED,
            f"the process {how} while model.factory was running{last}",
            "The factory must return a torch.nn.Module; it must not exit the process.",
            stage=death.stage,
        )
    if death.exited_in_forward:
        return ExportFailure(
            Reason.CAPTURE_FAILED,
            f"the process {how} while the model ran{last}",
            "forward must not exit the process (sys.exit, os._exit), directly or indirectly.",
            stage=death.stage,
        )
    return ExportFailure(
        Reason.WORKER_DIED,
        f"the worker {how}{last}",
        "Will be retried. If it persists at the same stage, a native library crashes: "
        "run it locally with `modelexport run`.",
        stage=death.stage,
    )


def deadline_exceeded(stage: Stage | None) -> ExportFailure:
    """Return the failure for a worker that ran past the deadline."""
    return ExportFailure(
        Reason.DEADLINE_EXCEEDED,
        "the worker was stopped at the deadline: it exceeded its share of "
        "spec.activeDeadlineSeconds (each route to ONNX may take half of the remaining time)",
        "Raise spec.activeDeadlineSeconds, or find the operation that hangs.",
        stage=stage,
    )


def not_started(why: str) -> ExportFailure:
    """Return the failure for a worker that could not be started."""
    return ExportFailure(
        Reason.WORKER_DIED,
        f"the process from which workers are forked ended: {why}",
        "Will be retried. The model's code must not end processes that it did not start.",
    )


def not_ended(count: int) -> ExportFailure:
    """Return the failure for processes of a worker that outlive it."""
    return ExportFailure(
        Reason.WORKER_DIED,
        f"the worker ended, and {count} processes that it had started could not be ended",
        "Will be retried. The model's code must not leave processes behind.",
    )


def invalid_answer(found: str, stage: Stage | None) -> ExportFailure:
    """Return the failure for a worker that sent something else than its answer."""
    return ExportFailure(
        Reason.WORKER_ANSWER_INVALID,
        f"the worker, in which the model's code runs, sent what is no answer: {found}; one JSON "
        "document of the answer's type was expected",
        "The model's code must not write to file descriptors that it did not open.",
        stage=stage,
    )


def internal_error(message: str, stage: Stage | None) -> ExportFailure:
    """Return the failure for an exception that no stage expected."""
    return ExportFailure(
        Reason.INTERNAL_ERROR,
        f"unexpected {message}",
        "This is a bug in ModelExport: the log has the traceback. Please report it.",
        stage=stage,
    )


def _describe_exit(exit_code: int | None) -> str:
    if exit_code is None:
        return "ended"
    if exit_code < 0:
        try:
            return f"was killed by {signal.Signals(-exit_code).name}"
        except ValueError:
            return f"was killed by signal {-exit_code}"
    return f"exited with code {exit_code}"


def _describe_memory(memory: Memory) -> str:
    limit = _gib(memory.limit_bytes) if memory.limit_bytes else "no limit of its own"
    peak = _gib(memory.peak_bytes) if memory.peak_bytes else "unknown"
    return f"limit {limit}, peak {peak}"


def _gib(size: int) -> str:
    return f"{size / 2**30:.2f} GiB"
