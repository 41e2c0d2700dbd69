"""A commit of what is here, committed or not: what tests release."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path


def commit(source: Path, target: Path) -> Path:
    """Make TARGET a repository whose only commit has what git does not ignore in SOURCE."""
    names = git(source, "ls-files", "--cached", "--others", "--exclude-standard").splitlines()
    for name in names:
        if (source / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source / name, target / name)
    git(target, "init", "--quiet")
    git(target, "add", "--all", "--force")
    git(target, "commit", "--quiet", "--message", "all")
    return target


def git(repository: Path, *arguments: str) -> str:
    """Run git as somebody."""
    words = ["git", "-C", str(repository), "-c", "user.name=t", "-c", "user.email=t@t", *arguments]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()
