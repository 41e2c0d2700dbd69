"""Error codes of S3 that are answers rather than failures."""

from __future__ import annotations

from typing import Any

MISSING = {"404", "NoSuchKey", "NoSuchVersion"}
CONDITION = {"412", "PreconditionFailed", "409", "ConditionalRequestConflict"}


def error_code(error: Exception) -> str:
    """Return the code of an error of boto3; empty if it has none."""
    response: dict[str, Any] = getattr(error, "response", {})
    return str(response.get("Error", {}).get("Code", ""))
