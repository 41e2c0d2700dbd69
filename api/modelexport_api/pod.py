"""The contract between operator and pod: its one input and its three outputs.

In: the resolved ModelExport as JSON in one environment variable; storage credentials as the usual
AWS variables; nothing else of Kubernetes. Out: JSON log lines (progress), the termination message
(the result, at most 4 KiB) and the exit code (`reasons.ExitCode`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from pydantic import Field

from modelexport_api.base import ApiModel, truncate
from modelexport_api.items import ShareCounts
from modelexport_api.reasons import EXIT_CODES, ExitCode
from modelexport_api.status import Artifact, Failure, Progress, Stage, VerificationResult

MANIFEST_ENV = "MODELEXPORT_MANIFEST"
"""Environment variable with the ModelExport (apiVersion, kind, metadata, spec) as JSON."""

SIGNING_KEY_ENV = "MODELEXPORT_SIGNING_KEY"
"""Environment variable with the private key itself, from destination.signingSecretName.

Not a mounted file, because the user's code runs as the same user and could read it. The exporter
removes the variable before that code starts, and other processes cannot inspect its memory.
"""

SIGNING_KEY_FILE_ENV = "MODELEXPORT_SIGNING_KEY_FILE"
"""Environment variable with the path of the key's file, for use outside a cluster."""

SIGNING_KEY_ENTRY = "key.pem"
"""The key's entry in the Secret."""

LOG_LEVEL_ENV = "MODELEXPORT_LOG_LEVEL"
"""Environment variable with the least level of the log's messages; progress is always written."""

CONTAINER = "exporter"
"""Name of the container in the pod."""

WORK_DIR = "/work"
"""Mount path of a writable emptyDir; the root file system is read-only."""

TERMINATION_LOG = "/dev/termination-log"
MAX_TERMINATION_BYTES = 4096
"""The kubelet truncates termination messages to this size."""


class PodResult(ApiModel):
    """The result of an export."""

    outcome: Literal["Succeeded", "Failed"]
    artifact: Artifact | None = None
    verification: VerificationResult | None = None
    failure: Failure | None = None
    completed: list[Stage] = Field(default_factory=list)
    report_uri: str | None = None
    reused: bool = False
    peak_memory_bytes: int | None = None
    share: ShareCounts | None = None
    """Counts of this pod's share of a batch. `outcome` is Succeeded if every checkpoint of the
    share was processed, even if some failed; a failure applies to the batch as a whole."""

    @property
    def exit_code(self) -> ExitCode:
        """Return the exit code for the result."""
        if self.failure is None:
            return ExitCode.DONE
        return EXIT_CODES.get(self.failure.reason, ExitCode.INTERNAL)


LogLevel = Literal["debug", "info", "warning", "error"]


class LogLine(ApiModel):
    """One line of the pod's log. The operator copies `progress` and `share` to the status.

    `namespace`, `name` and `uid` are those of the ModelExport.
    """

    time: str
    level: LogLevel
    message: str
    namespace: str | None = None
    name: str | None = None
    uid: str | None = None
    progress: Progress | None = None
    share: ShareCounts | None = None
    fields: dict[str, Any] = Field(default_factory=dict)


def parse_log_line(line: str) -> LogLine | None:
    """Return the parsed line, or None for output of a library."""
    if not line.startswith("{"):
        return None
    try:
        return LogLine.model_validate_json(line)
    except ValueError:
        return None


def encode_termination(result: PodResult, limit: int = MAX_TERMINATION_BYTES) -> str:
    """Return the result as JSON of at most `limit` bytes, without parts that the report has.

    Dropped in this order until it fits: the list of files, names and shapes of inputs and outputs,
    the manifest's URI (it is in the artifact's directory), the list of unsupported operators from
    its end, the end of message and hint. Reason, verdict and the URIs of artifact and report are
    always kept.
    """
    for candidate in _shrink(result):
        text = candidate.model_dump_json(by_alias=True, exclude_none=True)
        if len(text.encode()) <= limit:
            return text
    msg = f"the result exceeds {limit} bytes even without lists and texts"
    raise ValueError(msg)


def _shrink(result: PodResult) -> Iterator[PodResult]:
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
            yield slim.model_copy(update={"failure": _shorten(failure, length)})


def _shorten(failure: Failure, length: int) -> Failure:
    texts = {"message": truncate(failure.message, length), "hint": truncate(failure.hint, length)}
    return failure.model_copy(update=texts)
