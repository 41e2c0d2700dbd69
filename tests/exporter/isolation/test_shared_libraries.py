"""A fork server that imports libraries: what its workers find, and what they print."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

LIBRARIES = {
    "quiet_library": "X = 1",
    "loud_library": "print('I am deprecated')",
    "failing_library": "raise RuntimeError('no')",
    "exiting_library": "raise SystemExit(3)",
    "asking_library": "import os; assert os.environ['PYTORCH_NVML_BASED_CUDA_CHECK'] == '1'",
    "threaded_library": "import threading, time\n"
    "threading.Thread(target=time.sleep, args=(60,), daemon=True).start()",
}
SERVER = """
import json, sys
from pathlib import Path
from modelexport_exporter.core.memory import MemoryWatch
from modelexport_exporter.isolation import server, worker
from modelexport_exporter.isolation.shared_libraries import LibraryImport

if __name__ == "__main__":
    how, *names = sys.argv[1:]
    if "early" in how:
        server.start_early(("shared_preload",))
    libraries = [LibraryImport(name, ("X",)) for name in names]
    if "named" in how:
        server.start_server(("shared_preload",), libraries * (1000 if "often" in how else 1))
    printed = []
    modules = worker.run(
        "small_workers:imported", (), list[str], on_progress=lambda *_: None,
        on_output=printed.append, memory=MemoryWatch(),
    )
    print(json.dumps([sorted(m for m in modules if m.endswith("_library")), printed]))
"""
PRELOAD = """
from modelexport_exporter.isolation.shared_libraries import import_shared_libraries
import_shared_libraries()
"""


def run_server(tmp_path: Path, how: str, *names: str) -> object:
    """Return which libraries a worker finds imported, and what it prints."""
    files = LIBRARIES | {"server": SERVER, "shared_preload": PRELOAD}
    for name, code in files.items():
        (tmp_path / f"{name}.py").write_text(code)
    path = os.pathsep.join([str(tmp_path), *filter(None, sys.path)])
    done = subprocess.run(
        [sys.executable, str(tmp_path / "server.py"), how, *names],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    ("names", "imported", "printed"),
    [
        (["quiet_library"], ["quiet_library"], []),
        (["loud_library", "quiet_library"], ["loud_library", "quiet_library"], ["I am deprecated"]),
        (["quiet_library", "failing_library"], [], []),
        (["quiet_library", "exiting_library"], [], []),
        (["quiet_library", "threaded_library"], [], []),
        (["asking_library"], ["asking_library"], []),
        (["missing_library", "quiet_library"], ["quiet_library"], []),
        ([], [], []),
    ],
)
def test_workers_find_what_was_imported(
    names: list[str], imported: list[str], printed: list[str], tmp_path: Path
) -> None:
    assert run_server(tmp_path, "named", *names) == [imported, printed]


@pytest.mark.parametrize(
    ("how", "imported"),
    [
        ("early, named", ["quiet_library"]),
        ("early", []),  # a worker that starts before they are named does not wait for them
        ("early, named often", []),  # a pipe that nobody reads yet does not take so many
    ],
)
def test_libraries_are_named_to_a_server_that_was_started_before(
    how: str, imported: list[str], tmp_path: Path
) -> None:
    assert run_server(tmp_path, how, "quiet_library") == [imported, []]
