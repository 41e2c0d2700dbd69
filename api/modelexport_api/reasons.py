"""The closed list of failure reasons, each with its exit code and whether it is retryable.

The pod exits with one code per class of reasons. The permanent ones are in the Job's
podFailurePolicy, so that a user error fails at once while a lost node or an unreachable store is
retried. Users see reasons in conditions; the meaning of a reason never changes.
"""

from __future__ import annotations

from enum import IntEnum, StrEnum


class ExitCode(IntEnum):
    """Exit codes of the exporter, one per class of failures."""

    DONE = 0
    MANIFEST = 10
    SOURCE = 11
    MODEL = 12
    EXPORT = 13
    CONTRACT = 14
    VERIFICATION = 15
    DESTINATION = 16
    PROVIDER = 17
    RESOURCES = 18
    ITEMS = 19
    INTERNAL = 70  # EX_SOFTWARE
    RETRYABLE = 75  # EX_TEMPFAIL


PERMANENT_EXIT_CODES: tuple[int, ...] = tuple(
    int(code) for code in ExitCode if code not in {ExitCode.DONE, ExitCode.RETRYABLE}
)


class Reason(StrEnum):
    """Why an export failed."""

    # The manifest.
    INVALID_MANIFEST = "InvalidManifest"
    # A batch as a whole.
    NOTHING_MATCHED = "NothingMatched"
    DESTINATIONS_COLLIDE = "DestinationsCollide"
    TOO_MANY_FAILED = "TooManyFailed"
    # The checkpoint and the code: fetch.
    SOURCE_NOT_FOUND = "SourceNotFound"
    ACCESS_DENIED = "AccessDenied"
    DIGEST_MISMATCH = "DigestMismatch"
    CODE_INVALID = "CodeInvalid"
    # The checkpoint's content and the module: load.
    CHECKPOINT_CORRUPT = "CheckpointCorrupt"
    FORMAT_UNKNOWN = "FormatUnknown"
    UNSAFE_CHECKPOINT = "UnsafeCheckpoint"
    FACTORY_NOT_FOUND = "FactoryNotFound"
    FACTORY_FAILED = "FactoryFailed"
    STATE_DICT_MISMATCH = "StateDictMismatch"
    # The forward pass and its translation: capture, convert.
    INPUTS_MISMATCH = "InputsMismatch"
    CAPTURE_FAILED = "CaptureFailed"
    UNSUPPORTED_OPERATOR = "UnsupportedOperator"
    CONVERSION_FAILED = "ConversionFailed"
    # Comparison of spec and file: contract.
    DYNAMIC_DIM_SPECIALIZED = "DynamicDimSpecialized"
    CONTRACT_VIOLATED = "ContractViolated"
    # The comparison of artifact and model: verify.
    VERIFICATION_FAILED = "VerificationFailed"
    RUNTIME_FAILED = "RuntimeFailed"
    ILL_CONDITIONED = "IllConditioned"
    OUTPUT_NOT_COMPARED = "OutputNotCompared"
    BRANCH_NOT_COMPARED = "BranchNotCompared"
    SAMPLES_INVALID = "SamplesInvalid"
    ARTIFACT_INVALID = "ArtifactInvalid"
    PROVIDER_UNAVAILABLE = "ProviderUnavailable"
    # The destination: publish.
    DESTINATION_EXISTS = "DestinationExists"
    DESTINATION_DENIED = "DestinationDenied"
    SIGNING_FAILED = "SigningFailed"
    # The machine.
    ISOLATION_UNAVAILABLE = "IsolationUnavailable"
    INSUFFICIENT_MEMORY = "InsufficientMemory"
    OUT_OF_MEMORY = "OutOfMemory"
    DISK_FULL = "DiskFull"
    DEADLINE_EXCEEDED = "DeadlineExceeded"
    STORE_UNAVAILABLE = "StoreUnavailable"
    SOURCE_CHANGED = "SourceChanged"
    WORKER_DIED = "WorkerDied"
    WORKER_ANSWER_INVALID = "WorkerAnswerInvalid"
    ARTIFACT_CHANGED = "ArtifactChanged"
    INTERRUPTED = "Interrupted"
    POD_KILLED = "PodKilled"
    INTERNAL_ERROR = "InternalError"
    # Detected by the operator only.
    POD_REJECTED = "PodRejected"
    POD_CANNOT_START = "PodCannotStart"
    PENDING_DEADLINE_EXCEEDED = "PendingDeadlineExceeded"
    RETRIES_EXHAUSTED = "RetriesExhausted"
    JOB_DELETED = "JobDeleted"
    RESULT_LOST = "ResultLost"


EXIT_CODES: dict[Reason, ExitCode] = {
    Reason.INVALID_MANIFEST: ExitCode.MANIFEST,
    Reason.NOTHING_MATCHED: ExitCode.SOURCE,
    Reason.DESTINATIONS_COLLIDE: ExitCode.DESTINATION,
    Reason.TOO_MANY_FAILED: ExitCode.ITEMS,
    Reason.SOURCE_NOT_FOUND: ExitCode.SOURCE,
    Reason.ACCESS_DENIED: ExitCode.SOURCE,
    Reason.DIGEST_MISMATCH: ExitCode.SOURCE,
    Reason.CODE_INVALID: ExitCode.MODEL,
    Reason.CHECKPOINT_CORRUPT: ExitCode.SOURCE,
    Reason.FORMAT_UNKNOWN: ExitCode.SOURCE,
    Reason.UNSAFE_CHECKPOINT: ExitCode.SOURCE,
    Reason.FACTORY_NOT_FOUND: ExitCode.MODEL,
    Reason.FACTORY_FAILED: ExitCode.MODEL,
    Reason.STATE_DICT_MISMATCH: ExitCode.MODEL,
    Reason.INPUTS_MISMATCH: ExitCode.EXPORT,
    Reason.CAPTURE_FAILED: ExitCode.EXPORT,
    Reason.UNSUPPORTED_OPERATOR: ExitCode.EXPORT,
    Reason.CONVERSION_FAILED: ExitCode.EXPORT,
    Reason.DYNAMIC_DIM_SPECIALIZED: ExitCode.CONTRACT,
    Reason.CONTRACT_VIOLATED: ExitCode.CONTRACT,
    Reason.VERIFICATION_FAILED: ExitCode.VERIFICATION,
    Reason.RUNTIME_FAILED: ExitCode.VERIFICATION,
    Reason.ILL_CONDITIONED: ExitCode.VERIFICATION,
    Reason.OUTPUT_NOT_COMPARED: ExitCode.VERIFICATION,
    Reason.BRANCH_NOT_COMPARED: ExitCode.VERIFICATION,
    Reason.SAMPLES_INVALID: ExitCode.MANIFEST,
    Reason.ARTIFACT_INVALID: ExitCode.SOURCE,
    Reason.PROVIDER_UNAVAILABLE: ExitCode.PROVIDER,
    Reason.DESTINATION_EXISTS: ExitCode.DESTINATION,
    Reason.DESTINATION_DENIED: ExitCode.DESTINATION,
    Reason.SIGNING_FAILED: ExitCode.DESTINATION,
    Reason.ISOLATION_UNAVAILABLE: ExitCode.RESOURCES,
    Reason.INSUFFICIENT_MEMORY: ExitCode.RESOURCES,
    Reason.OUT_OF_MEMORY: ExitCode.RESOURCES,
    Reason.DISK_FULL: ExitCode.RESOURCES,
    Reason.DEADLINE_EXCEEDED: ExitCode.RESOURCES,
    Reason.STORE_UNAVAILABLE: ExitCode.RETRYABLE,
    Reason.SOURCE_CHANGED: ExitCode.RETRYABLE,
    Reason.WORKER_ANSWER_INVALID: ExitCode.MODEL,
    Reason.ARTIFACT_CHANGED: ExitCode.MODEL,
    Reason.WORKER_DIED: ExitCode.RETRYABLE,
    Reason.INTERRUPTED: ExitCode.RETRYABLE,
    Reason.POD_KILLED: ExitCode.RESOURCES,
    Reason.INTERNAL_ERROR: ExitCode.INTERNAL,
}
"""The exit code of every reason that a pod can report."""


def is_retryable(reason: Reason) -> bool:
    """Return whether the Job retries after this failure: the same spec may succeed."""
    return EXIT_CODES.get(reason) is ExitCode.RETRYABLE
