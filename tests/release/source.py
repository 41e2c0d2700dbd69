"""The commit that a release is built from.

Everything is built from `git archive`, never from the work tree: a file that is not committed can
then be in no release, and the provenance is true whatever lies around.
"""

from __future__ import annotations

import io
import subprocess
import tarfile
import tomllib
from dataclasses import dataclass
from pathlib import Path

from release.errors import ReleaseError


@dataclass(frozen=True)
class Source:
    """A checkout of one commit, without anything else."""

    root: Path
    commit: str
    epoch: int
    """When the commit was made: the time of every file in a release (SOURCE_DATE_EPOCH)."""

    @property
    def version(self) -> str:
        project = tomllib.loads((self.root / "pyproject.toml").read_text())["project"]
        return str(project["version"])


def export(repository: Path, target: Path, revision: str = "HEAD") -> Source:
    """Write the files of REVISION to TARGET."""
    commit = _git(repository, "rev-parse", f"{revision}^{{commit}}").decode().strip()
    epoch = int(_git(repository, "show", "--no-patch", "--format=%ct", commit))
    archive = io.BytesIO(_git(repository, "archive", "--format=tar", commit))
    with tarfile.open(fileobj=archive) as files:
        files.extractall(target, filter="data")
    return Source(target, commit, epoch)


def _git(repository: Path, *arguments: str) -> bytes:
    done = subprocess.run(["git", "-C", repository, *arguments], capture_output=True, check=False)
    if done.returncode:
        message = done.stderr.decode(errors="replace").strip()
        raise ReleaseError("NoCommit", f"git {arguments[0]}: {message}. Release from a clone.")
    return done.stdout
