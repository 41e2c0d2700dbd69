"""The result of an export: the verdict, where the file is, and the report."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from modelexport_api.status import ModelExportStatus
from modelexport_cli.report_page import content_of, frame_of, is_local, path_of


@dataclass(frozen=True, repr=False)
class Result:
    """A verified ONNX file."""

    status: ModelExportStatus
    """The status that the ModelExport has, as in a cluster."""

    @property
    def verdict(self) -> str:
        """Return `Verified`; `Incomplete` where `verification.allowIncomplete` permits it."""
        assert self.status.verification is not None
        return self.status.verification.verdict.value

    @property
    def uri(self) -> str:
        """Return the URI of the ONNX file; its external data is next to it."""
        assert self.status.artifact is not None
        return self.status.artifact.uri

    @property
    def path(self) -> Path:
        """Return the path of the ONNX file. Raises ValueError if it is not on this machine."""
        return path_of(self.uri)

    @property
    def report_path(self) -> Path:
        """Return the path of report.json; report.html is next to it."""
        assert self.status.report_uri is not None
        return path_of(self.status.report_uri)

    @property
    def report(self) -> dict[str, Any]:
        """Return the content of report.json."""
        return content_of(self.report_path)

    def __repr__(self) -> str:
        """Return verdict, largest error and path."""
        found = self.status.verification
        assert found is not None
        samples = f"{found.samples} samples on {found.provider}"
        error = f"relative error at most {found.max_rel_error:.2g}"
        where = self.path if is_local(self.uri) else self.uri
        return f"<{self.verdict}: {samples}, {error}: {where}>"

    def _repr_html_(self) -> str | None:
        """Return the report for a notebook."""
        return frame_of(self.status.report_uri)
