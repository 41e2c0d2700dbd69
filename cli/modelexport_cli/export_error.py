"""The error of an export that failed."""

from __future__ import annotations

from typing import Any


class ExportError(Exception):
    """An export failed, or was not verified: nothing was published but a report."""

    def __init__(self, reason: str, message: str, hint: str = "", status: Any = None) -> None:  # noqa: ANN401
        super().__init__(f"{reason}: {message}" + (f"\nHint: {hint}" if hint else ""))
        self.reason = reason
        """From the closed list of reasons, such as VerificationFailed."""
        self.message = message
        self.hint = hint
        """What to do."""
        self.status = status
        """The status that the ModelExport has, as in a cluster; None if there is none."""
