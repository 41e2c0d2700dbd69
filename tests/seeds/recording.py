"""What a run of the coverage found, case by case."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class Outcome(StrEnum):
    """How an export ended, as the tests judge it."""

    RIGHT = "right"
    REFUSED = "refused"
    WRONG = "wrong"
    """A file that was called verified and does not compute what eager computes."""


@dataclass(frozen=True)
class Finding:
    """One case, and how it ended."""

    rows: tuple[str, ...]
    case: str
    outcome: Outcome
    by: str
    """The rung that won, or the reason of the refusal."""
    nightly: bool = False
    pinned: str = ""
    """`TorchScript`, `Dynamo` or `opset 13` where the case asks for it; empty: any route."""
    error: float = field(default=0.0, compare=False)
    """The worst error that the tests saw, relative to the output's scale."""
    seconds: float = field(default=0.0, compare=False)


@dataclass
class Recorder:
    """Collects the findings of a run."""

    findings: dict[str, Finding] = field(default_factory=dict)

    def add(self, finding: Finding) -> None:
        """Keep it; a case runs once."""
        assert finding.case not in self.findings, f"two cases are named {finding.case}"
        self.findings[finding.case] = finding
