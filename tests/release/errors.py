"""Why a release was not built, or is not what it says."""

from __future__ import annotations


class ReleaseError(RuntimeError):
    """Stops a release: the reason in CamelCase, what was found, and what to do."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(f"{reason}: {message}")
        self.reason = reason
