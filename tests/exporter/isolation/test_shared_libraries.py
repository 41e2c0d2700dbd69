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
    "threaded_library": "import threading, time\n"
    "threading.Thread(target=time.sleep, args=(60,), daemon=True).start()",
}
SERVER = """
import json, sys
from pathlib import Path
from modelexport_exporter.core.memory import MemoryWatch
from modelexport_exporter.core.types import LibraryImport
from modelexport_exporter.isolation import server, worker

if __name__ == "__main__":
    libraries = [LibraryImport(name, ("X",)) for name in sys.argv[1:]]
    server.start_server(("shared_preload",), libraries)
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


@pytest.mark.parametrize(
    ("names", "imported", "printed"),
    [
        (["quiet_library"], ["quiet_library"], []),
        (["loud_library", "quiet_library"], ["loud_library", "quiet_library"], ["I am deprecated"]),
        (["quiet_library", "failing_library"], [], []),
        (["quiet_library", "exiting_library"], [], []),
        (["quiet_library", "threaded_library"], [], []),
        (["missing_library", "quiet_library"], ["quiet_library"], []),
        ([], [], []),
    ],
)
def test_workers_find_what_was_imported(
    names: list[str], imported: list[str], printed: list[str], tmp_path: Path
) -> None:
    files = LIBRARIES | {"server": SERVER, "shared_preload": PRELOAD}
    for name, code in files.items():
        (tmp_path / f"{name}.py").write_text(code)
    path = os.pathsep.join([str(tmp_path), *filter(None, sys.path)])
    done = subprocess.run(
        [sys.executable, str(tmp_path / "server.py"), *names],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert json.loads(done.stdout) == [imported, printed], done.stderr
