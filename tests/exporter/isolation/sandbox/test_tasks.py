"""What CUDA does when it starts, on the real kernel: it names its threads through /proc."""

from __future__ import annotations

import subprocess
import sys

import pytest

from modelexport_exporter.isolation.sandbox.landlock import kernel_abi

NAMING = """
import sys, threading
from pathlib import Path
from modelexport_exporter.isolation.sandbox import landlock, linux
from modelexport_exporter.isolation.sandbox.places import Access, Grant

stop = threading.Event()
thread = threading.Thread(target=stop.wait)
rules = [Grant(Path("/"), Access.READ)]
if "tasks" in sys.argv:
    rules.append(Grant(Path("/proc/self/task"), Access.WRITE))
linux.set_no_new_privileges()
landlock.restrict(rules, landlock.kernel_abi(), network=True)
thread.start()
for path in (f"task/{thread.native_id}/comm", "comm"):
    try:
        Path("/proc/self", path).write_text("cuda")  # opened as fopen(path, "w") does
        print("written", end=" ")
    except PermissionError:
        print("refused", end=" ")
stop.set()
"""


@pytest.mark.skipif(not kernel_abi(), reason="needs a kernel with Landlock")
@pytest.mark.parametrize(
    ("rule", "expected"), [("tasks", "written refused"), ("", "refused refused")]
)
def test_threads_are_named_where_the_rule_is(rule: str, expected: str) -> None:
    shown = subprocess.run(
        [sys.executable, "-c", NAMING, rule], capture_output=True, text=True, check=True
    )
    assert shown.stdout.strip() == expected
