"""Which fields of a spec may change: none that the artifact or its verification depends on.

There is one rule per field, so that the API server names the field that was changed.
"""

from __future__ import annotations

from typing import Any

MUTABLE = frozenset({"suspend", "ttlSecondsAfterFinished"})
"""Neither of them changes what is exported."""

MESSAGE = (
    "the spec of a ModelExport is immutable, except suspend and ttlSecondsAfterFinished; "
    "create a new ModelExport for a changed spec"
)


def add_transition_rules(schema: dict[str, Any]) -> None:
    """Add rules to the spec's structural schema: no field may be changed, added or removed.

    The API server does not evaluate a rule with oldSelf if the field is absent before or after;
    so a rule at the root checks the presence of all optional fields.
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
