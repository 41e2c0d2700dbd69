"""The result of an export: the verdict, where the file is, and the report."""

from __future__ import annotations

import html
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from modelexport_api.status import ModelExportStatus

_HEIGHT = 720
"""Pixels of the report in a notebook."""


@dataclass(frozen=True)
class Result:
    """A verified ONNX file."""

    status: ModelExportStatus
    """The status that the ModelExport has, as in a cluster."""

    @property
    def verdict(self) -> str:
        """Return `Verified`."""
        assert self.status.verification is not None
        return self.status.verification.verdict.value

    @property
    def path(self) -> Path:
        """Return the path of the ONNX file; its external data is beside it."""
        assert self.status.artifact is not None
        return _path(self.status.artifact.uri)

    @property
    def report_path(self) -> Path:
        """Return the path of report.json; report.html is beside it."""
        assert self.status.report_uri is not None
        return _path(self.status.report_uri)

    @property
    def report(self) -> dict[str, Any]:
        """Return the content of report.json."""
        content: dict[str, Any] = json.loads(self.report_path.read_bytes())
        return content

    def __repr__(self) -> str:
        """Return verdict, largest error and path."""
        found = self.status.verification
        assert found is not None
        samples = f"{found.samples} samples on {found.provider}"
        return f"<{self.verdict}: {samples}, error at most {found.max_rel_error:.2g}: {self.path}>"

    def _repr_html_(self) -> str:
        """Return the report for a notebook, in a frame that keeps its styles to itself."""
        page = self.report_path.with_name("report.html").read_text(encoding="utf-8")
        return (
            f'<iframe srcdoc="{html.escape(page)}" width="100%" height="{_HEIGHT}" '
            'style="border:0" title="ModelExport report"></iframe>'
        )


def _path(uri: str) -> Path:
    return Path(unquote(urlsplit(uri).path))
