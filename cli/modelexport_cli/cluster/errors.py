"""The errors of the cluster's commands: what was found, what to do, and the exit code."""

from __future__ import annotations

import re

from modelexport_api.status import Failure, ModelExportStatus
from modelexport_cli.export_error import ExportError

USAGE = 2
"""Exit code of everything that the caller must correct: a name, a context, a permission."""

INTERRUPTED = 130
"""Exit code of a command that Ctrl-C ended, as shells report it."""


class ClusterError(Exception):
    """A command cannot go on. Message: what was found and expected. Hint: what to do."""

    def __init__(
        self, message: str, hint: str = "", *, exit_code: int = USAGE, reason: str = ""
    ) -> None:
        Exception.__init__(self, message)
        self.message = message
        self.hint = hint
        self.exit_code = exit_code
        self.reason = reason
        """The API server's word for it, such as NotFound; empty if it has none."""

    def __str__(self) -> str:
        return f"{self.message}\n{self.hint}" if self.hint else self.message


class ExportFailedError(ClusterError, ExportError):
    """The export ended and is Failed: reason, message and hint are those of the status."""

    def __init__(
        self, name: str, failure: Failure, status: ModelExportStatus, exit_code: int
    ) -> None:
        super().__init__(
            failure.message, failure.hint, exit_code=exit_code, reason=failure.reason.value
        )
        self.name = name
        self.failure = failure
        self.status = status

    def __str__(self) -> str:
        return f"{self.name}: {self.reason}: {super().__str__()}"


def one_line(error: Exception) -> str:
    """Return an error's text as one line, without the Python object that urllib3 begins it with."""
    text = " ".join(str(error).split()) or type(error).__name__
    return re.sub(r"^\w+\(host=[^)]*\): ", "", text)
