"""The one exception that ends an export: a reason from the closed list and a way out."""

from __future__ import annotations

from modelexport_api.reasons import Reason, is_retryable
from modelexport_api.status import Failure, Stage

MESSAGE_LIMIT = 2048
HINT_LIMIT = 1024


class ExportFailure(Exception):  # noqa: N818 - "failure" is the API's word for it
    """An export cannot go on. Message: what was found and expected. Hint: what to do."""

    def __init__(
        self, reason: Reason, message: str, hint: str = "", *, stage: Stage | None = None
    ) -> None:
        super().__init__(reason, message, hint)
        self.reason = reason
        self.message = message
        self.hint = hint
        self.stage = stage

    def __str__(self) -> str:
        return f"{self.reason}: {self.message}"

    def describe(self, stage: Stage | None = None) -> Failure:
        """Return the failure as the API shows it; `stage` where the failure names none itself."""
        return Failure(
            reason=self.reason,
            message=printable(self.message)[:MESSAGE_LIMIT],
            hint=printable(self.hint)[:HINT_LIMIT],
            stage=self.stage or stage,
            retryable=is_retryable(self.reason),
        )


def printable(text: str) -> str:
    """Return text that JSON can hold: names of files and user code's messages may not be."""
    return text.encode(errors="backslashreplace").decode()
