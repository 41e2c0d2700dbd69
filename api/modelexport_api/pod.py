"""The contract between operator and pod: what goes in, and the three ways out.

In: the resolved ModelExport as JSON in one environment variable; storage credentials as the usual
AWS variables; nothing of Kubernetes. Out: JSON log lines (progress), the termination message (the
result, at most 4 KiB) and the exit code (`reasons.ExitCode`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from pydantic import Field

from modelexport_api.base import ApiModel
from modelexport_api.items import ShareCounts
from modelexport_api.reasons import EXIT_CODES, ExitCode
from modelexport_api.status import Artifact, Failure, Progress, Stage, VerificationResult

MANIFEST_ENV = "MODELEXPORT_MANIFEST"
"""Environment variable with the ModelExport (apiVersion, kind, metadata, spec) as JSON."""

SIGNING_KEY_ENV = "MODELEXPORT_SIGNING_KEY"
"""Environment variable with the private key itself, from destination.signingSecretName.

Not a mounted file: that could be read by the user's code, which runs as the same user. A variable
is gone before that code starts, and the process that had it cannot be looked into.
"""

SIGNING_KEY_FILE_ENV = "MODELEXPORT_SIGNING_KEY_FILE"
"""Environment variable that names the key's file, outside a cluster."""

SIGNING_KEY_ENTRY = "key.pem"
"""The key's entry in the Secret."""

CONTAINER = "exporter"
"""Name of the container in the pod."""

WORK_DIR = "/work"
"""Where the pod has an emptyDir to write to; the root file system is read-only."""

TERMINATION_LOG = "/dev/termination-log"
MAX_TERMINATION_BYTES = 4096
"""The kubelet cuts a termination message here."""


class PodResult(ApiModel):
    """How an export ended."""

    outcome: Literal["Succeeded", "Failed"]
    artifact: Artifact | None = None
    verification: VerificationResult | None = None
    failure: Failure | None = None
    completed: list[Stage] = Field(default_factory=list)
    report_uri: str | None = None
    reused: bool = False
    peak_memory_bytes: int | None = None
    share: ShareCounts | None = None
    """Of a batch: what became of this pod's share. `outcome` is Succeeded when all of it was
    tried, whatever became of each; a failure concerns the batch as a whole."""

    @property
    def exit_code(self) -> ExitCode:
        """Return the exit code that goes with the result."""
        if self.failure is None:
            return ExitCode.DONE
        return EXIT_CODES.get(self.failure.reason, ExitCode.INTERNAL)


class LogLine(ApiModel):
    """One line of the pod's log: `progress` moves the resource's, `share` its counts of items."""

    time: str
    level: Literal["debug", "info", "warning", "error"]
    message: str
    progress: Progress | None = None
    share: ShareCounts | None = None
    fields: dict[str, Any] = Field(default_factory=dict)


def parse_log_line(line: str) -> LogLine | None:
    """Return the line, or None for what a library printed in between."""
    if not line.startswith("{"):
        return None
    try:
        return LogLine.model_validate_json(line)
    except ValueError:
        return None


def encode_termination(result: PodResult, limit: int = MAX_TERMINATION_BYTES) -> str:
    """Return the result as JSON of at most `limit` bytes, dropping what the report also holds.

    Dropped in this order until it fits: the list of files, names and shapes of inputs and outputs,
    the manifest's URI (it lies beside the artifact), the list of unsupported operators from its
    end, the hint's and at last the message's tail.
    Reason, verdict and the URIs of artifact and report always survive.
    """
    for candidate in _ever_shorter(result):
        text = candidate.model_dump_json(by_alias=True, exclude_none=True)
        if len(text.encode()) <= limit:
            return text
    msg = f"a result without lists and texts still exceeds {limit} bytes"
    raise ValueError(msg)


def _ever_shorter(result: PodResult) -> Iterator[PodResult]:
    yield result
    slim = result
    if result.artifact is not None:
        without_files = result.artifact.model_copy(update={"files": []})
        yield result.model_copy(update={"artifact": without_files})
        bare = without_files.model_copy(update={"inputs": [], "outputs": []})
        yield result.model_copy(update={"artifact": bare})
        bare = bare.model_copy(update={"manifest_uri": None})
        slim = result.model_copy(update={"artifact": bare})
        yield slim
    if result.failure is not None:
        failure = result.failure
        for count in (8, 3, 0):
            failure = failure.model_copy(update={"ops": failure.ops[:count]})
            yield slim.model_copy(update={"failure": failure})
        for length in (1024, 512, 256, 64):
            yield slim.model_copy(update={"failure": _shortened(failure, length)})


def _shortened(failure: Failure, length: int) -> Failure:
    texts = {"message": _cut(failure.message, length), "hint": _cut(failure.hint, length)}
    return failure.model_copy(update=texts)


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"
