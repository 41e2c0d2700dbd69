"""The pod's process, on this machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from modelexport_api.pod import MANIFEST_ENV, PodResult
from modelexport_exporter.pod import TERMINATION_LOG_ENV, WORK_DIR_ENV


def run_pod(
    manifest: dict[str, Any], directory: Path, **environment: str
) -> tuple[subprocess.CompletedProcess[str], PodResult]:
    """Run a resource as the operator would; return the process that ended, and its result."""
    termination = directory / "termination-log"
    done = subprocess.run(
        [sys.executable, "-m", "modelexport_exporter"],
        env={
            **os.environ,
            MANIFEST_ENV: json.dumps(manifest),
            WORK_DIR_ENV: str(directory / "work"),
            TERMINATION_LOG_ENV: str(termination),
            **environment,
        },
        capture_output=True,
        text=True,
        check=False,
    )
    return done, PodResult.model_validate_json(termination.read_text())
