"""The error of an export that failed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from modelexport_cli.report_page import content_of, frame_of, is_local, path_of

if TYPE_CHECKING:
    from modelexport_api.status import ModelExportStatus


class ExportError(Exception):
    """An export failed, or was not verified: nothing was published but a report."""

    def __init__(
        self, reason: str, message: str, hint: str = "", status: ModelExportStatus | None = None
    ) -> None:
        super().__init__(reason, message, hint, status)
        self.reason = reason
        """From the closed list of reasons, such as VerificationFailed."""
        self.message = message
        """What was found, and what was expected."""
        self.hint = hint
        """What to do."""
        self.status = status
        """The status that the ModelExport has, as in a cluster; None if there is none."""

    def __str__(self) -> str:
        """Return reason, message and hint."""
        return f"{self.reason}: {self.message}" + (f"\nHint: {self.hint}" if self.hint else "")

    @property
    def report_path(self) -> Path | None:
        """Return the path of report.json, report.html is next to it; None if there is none here."""
        uri = self._report_uri
        return path_of(uri) if uri is not None and is_local(uri) else None

    @property
    def report(self) -> dict[str, Any] | None:
        """Return the content of report.json; None if there is no report."""
        path = self.report_path
        return content_of(path) if path is not None else None

    @property
    def _report_uri(self) -> str | None:
        return self.status.report_uri if self.status is not None else None

    def _repr_html_(self) -> str | None:
        """Return the report for a notebook."""
        return frame_of(self._report_uri)
