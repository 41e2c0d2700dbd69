"""The wheel and the source distribution, by the locked hatchling, with the commit's time."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from release.errors import ReleaseError
from release.source import Source


def build(source: Source, dist: Path) -> None:
    """Write both to DIST."""
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(dist)]
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(source.epoch)}
    done = subprocess.run(
        command, cwd=source.root, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise ReleaseError("WheelNotBuilt", done.stderr.strip())
