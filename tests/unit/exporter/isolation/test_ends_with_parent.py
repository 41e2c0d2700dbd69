from __future__ import annotations

import os
import subprocess
import sys

import pytest

from modelexport_exporter.core.entry_points import ENDS_WITH_PARENT
from modelexport_exporter.isolation.prctl import SUPERVISOR_ENV


@pytest.mark.parametrize(
    ("supervisor", "code"), [(os.getpid(), 0), (os.getppid(), 1)], ids=["parent", "another"]
)
def test_a_fork_server_whose_supervisor_ended_before_it_could_know_ends(
    supervisor: int, code: int
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", f"import {ENDS_WITH_PARENT}"],
        env={**os.environ, SUPERVISOR_ENV: str(supervisor)},
        check=False,
    )
    assert done.returncode == code
