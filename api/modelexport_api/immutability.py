"""What of a spec may change: nothing that an artifact or its proof depends on.

Kept field by field, so that the API server names the one that somebody tried to change.
"""

from __future__ import annotations

from typing import Any

MUTABLE = frozenset({"suspend", "ttlSecondsAfterFinished"})
"""How long the result is kept, and whether work goes on, change nothing about the work."""

MESSAGE = (
    "the spec of a ModelExport is immutable but for suspend and ttlSecondsAfterFinished, so that "
    "its status never lies about an artifact; create a new ModelExport for a changed spec"
)


def add_transition_rules(schema: dict[str, Any]) -> None:
    """Add to the spec's structural schema that its fields neither change, come nor go.

    A rule that mentions oldSelf is not evaluated for a field that one of both lacks, so that the
    root says of every field that may be absent that it stays so.
    """
    required = set(schema.get("required", []))
    optional = []
    for name, field in schema["properties"].items():
        if name in MUTABLE:
            continue
        field.setdefault("x-kubernetes-validations", []).append(_rule("self == oldSelf"))
        if name not in required and "default" not in field:
            optional.append(f"has(self.{name}) == has(oldSelf.{name})")
    rules = schema.setdefault("x-kubernetes-validations", [])
    rules.append(_rule(" && ".join(sorted(optional))))


def _rule(cel: str) -> dict[str, str]:
    return {"rule": cel, "message": MESSAGE}
