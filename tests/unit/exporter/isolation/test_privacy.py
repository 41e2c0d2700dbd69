"""What the supervisor was started with cannot be read by its workers' code."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from modelexport_exporter.isolation import prctl

NOBODY = 65534
PARENT = """
import subprocess, sys
if sys.argv[1] == "private":
    exec(open(sys.argv[2]).read())
    set_non_dumpable()
child = "import os; print('top-secret' in open(f'/proc/{os.getppid()}/environ').read())"
print(subprocess.run([sys.executable, "-c", child], capture_output=True, text=True))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")
@pytest.mark.parametrize(("how", "seen"), [("open", "True"), ("private", "Permission denied")])
def test_a_child_of_the_same_user_cannot_read_the_environment(
    tmp_path: Path, how: str, seen: str
) -> None:
    python = shutil.which("python3", path="/usr/bin:/bin") or sys.executable
    source = shutil.copy(prctl.__file__, tmp_path / "privacy.py")
    Path(source).chmod(0o644)
    for directory in (tmp_path, *tmp_path.parents):
        if directory.stat().st_uid == os.geteuid() and directory != Path(tempfile.gettempdir()):
            directory.chmod(directory.stat().st_mode | 0o055)
    # root may look into every process; a pod's user may not.
    user = NOBODY if os.geteuid() == 0 else None
    done = subprocess.run(
        [python, "-c", PARENT, how, source],
        env={"KEY": "top-secret"},
        capture_output=True,
        text=True,
        check=True,
        user=user,
    )
    assert seen in done.stdout
