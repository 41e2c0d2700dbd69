"""The attacks, and what each may lead to: the only table.

Whatever it is, no promise is broken (`promises`). `ends` adds how the run may end: `PUBLISHED` with
the artifact of an honest model, or a reason of failure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field
from typing import Any

from modelexport_api.reasons import Reason

BATCH = ("a", "b", "c")
"""Names of the checkpoints of a batch."""

PUBLISHED = "Succeeded"
_SECONDS = 240


@dataclass(frozen=True)
class Case:
    """One attack."""

    name: str
    ends: Set[str]
    group: str
    seconds: int = _SECONDS
    """The export's deadline."""
    spec: dict[str, Any] = field(default_factory=dict)
    batch: bool = False


PUBLISH = frozenset({PUBLISHED})
INVALID = frozenset({Reason.WORKER_ANSWER_INVALID})
CHANGED = frozenset({Reason.ARTIFACT_CHANGED})
FACTORY = frozenset({Reason.FACTORY_FAILED})
REFUTED = frozenset({Reason.VERIFICATION_FAILED})
LATE = frozenset({Reason.DEADLINE_EXCEEDED})
DIED = frozenset({Reason.WORKER_DIED, Reason.FACTORY_FAILED, Reason.CAPTURE_FAILED})
UNREADABLE = frozenset(
    {*CHANGED, Reason.RUNTIME_FAILED, Reason.CONTRACT_VIOLATED, Reason.VERIFICATION_FAILED}
    | {Reason.ARTIFACT_INVALID, Reason.CONVERSION_FAILED}
)
"""Of a file that was replaced while a worker reads it. Where that fails an attempt, another way to
ONNX may publish an honest file."""
NAMES = frozenset({PUBLISHED, Reason.CONTRACT_VIOLATED, Reason.CONVERSION_FAILED}) | frozenset(
    {Reason.INVALID_MANIFEST, Reason.WORKER_ANSWER_INVALID, Reason.CAPTURE_FAILED}
)


def _of(group: str, names: Mapping[str, Set[str]], **fields: Any) -> Iterator[Case]:  # noqa: ANN401
    for name, ends in names.items():
        yield Case(name, ends, group, **fields)


_SHORT = {
    *("environment", "files", "checkpoint", "false digest", "forged metadata", "daemon"),
    *("script in forward", "outcome in the reference"),
}

STEAL = dict.fromkeys(
    (
        *("environment", "memory", "files", "descriptors", "network", "upload", "signals"),
        *("termination", "kernel", "other run"),
    ),
    PUBLISH,
)
FORGE = {
    "pickle": INVALID,
    "second answer": INVALID,
    "garbage": INVALID,
    "gigabyte message": INVALID,
    "nested message": INVALID,
    "forged stage": INVALID,
    "forged fraction": PUBLISH | INVALID,
    "verdict of another": INVALID | REFUTED,
    "every descriptor": INVALID | REFUTED,
    "log lines": PUBLISH,
    "false digest": CHANGED,
    "false size": CHANGED,
    "path traversal": INVALID,
    "name of the manifest": INVALID,
    "name of foreign data": INVALID,
    "forged metadata": INVALID,
    "external data outside": UNREADABLE | INVALID,
    "at exit": PUBLISH | INVALID | UNREADABLE,
}
TAMPER = {
    "daemon": PUBLISH | UNREADABLE | {Reason.INTERNAL_ERROR},
    "symbolic link": UNREADABLE | {Reason.INTERNAL_ERROR},
    "named pipe": PUBLISH | CHANGED | LATE,
    "pipe from the exporter": PUBLISH | UNREADABLE | LATE,
    "directory for a file": PUBLISH | UNREADABLE | {Reason.INTERNAL_ERROR},
    "moved directory": PUBLISH | UNREADABLE | {Reason.INTERNAL_ERROR},
    "hard link": PUBLISH,
    "sparse file": PUBLISH | UNREADABLE,
    "held descriptor": PUBLISH | UNREADABLE | {Reason.INTERNAL_ERROR},
    "checkpoint": PUBLISH,
    "code": PUBLISH,
    "python": PUBLISH,
    "caches": PUBLISH,
    "by role": REFUTED,
    "by role in forward": REFUTED | LATE | {Reason.CAPTURE_FAILED},
    "devices": PUBLISH,
    "locked directories": PUBLISH,
    "replaced directory": UNREADABLE | {Reason.INTERNAL_ERROR},
}
EXHAUST = {
    "fork bomb": PUBLISH,
    "memory bomb": frozenset({Reason.OUT_OF_MEMORY}),
    "disk bomb": frozenset({Reason.DISK_FULL, Reason.FACTORY_FAILED}),
    "million lines": PUBLISH,
    "gigabyte of output": PUBLISH,
    "hidden child": PUBLISH,
    "many threads": PUBLISH,
    "descriptors without end": PUBLISH | DIED | {Reason.CONVERSION_FAILED, Reason.INTERNAL_ERROR},
    "exits": DIED,
    "kills itself": DIED,
}
ENDLESS = {"never ends": LATE, "stops itself": LATE, "slow forward": LATE}
RESIDENT = {
    "resident holds files": PUBLISH,
    "resident replaces inputs": PUBLISH,
    "resident swaps weights": PUBLISH,
    "resident leaves a daemon": PUBLISH,
}
INJECT = {
    "script in an exception": FACTORY,
    "ANSI in an exception": FACTORY,
    "megabytes in an exception": FACTORY,
    "ANSI in the output": PUBLISH,
    "surrogates in an exception": FACTORY,
    "script in forward": frozenset({Reason.CAPTURE_FAILED, Reason.INPUTS_MISMATCH}),
    "script in the name of an output": NAMES,
    "ANSI in the name of an output": NAMES,
    "path in the name of an output": NAMES,
    "name of a megabyte": NAMES,
    "script in the name of a weight": NAMES,
    "awkward exception": FACTORY | DIED,
    "interrupts itself": FACTORY | DIED,
}
VERDICT = {
    f"{what} in the reference": REFUTED | INVALID
    for what in ("verdict", "outcome", "runtime", "numpy", "session")
}

CASES = (
    *_of("credentials, processes, other runs", STEAL),
    *_of("answers, names, digests", FORGE),
    *_of("files of the run, code of other roles", TAMPER),
    *_of("time, memory, processes, output", EXHAUST),
    *_of("time, memory, processes, output", ENDLESS, seconds=120),
    *_of("resident workers of a batch", RESIDENT, batch=True, seconds=600),
    *_of("log, status and report", INJECT),
    *_of("the verdict, in the process of the reference", VERDICT),
)


def is_short(case: Case) -> bool:
    """Return whether a case runs in every test run."""
    return case.name in _SHORT
