from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from modelexport_exporter.core.machine import (
    busy_seconds,
    cpu_count,
    free_memory,
    peak_memory,
    release_memory,
    thread_count,
)
from modelexport_exporter.core.memory import anonymous_bytes

MEMINFO = "MemTotal: 9000 kB\nMemAvailable:    1000000 kB\n"


def tree(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        pytest.param({}, None, id="no limit"),
        pytest.param({"cpu.max": "max 100000\n"}, None, id="v2 without one"),
        pytest.param({"cpu.max": "100000 100000\n"}, 1, id="v2, one CPU"),
        pytest.param({"cpu.max": "50000 100000\n"}, 1, id="v2, half a CPU"),
        pytest.param(
            {"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, None,
            id="v1 without one",
        ),
        pytest.param(
            {"cpu/cpu.cfs_quota_us": "100000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 1,
            id="v1, one CPU",
        ),
    ],
)  # fmt: skip
def test_cpus(tmp_path: Path, files: dict[str, str], expected: int | None) -> None:
    assert cpu_count(tree(tmp_path, files)) == (expected or len(os.sched_getaffinity(0)))


@pytest.mark.parametrize(
    ("declared", "expected"), [("1", 1), ("1000", None), ("0", None), ("2,1", None), ("", None)]
)
def test_threads(declared: str, expected: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", declared)
    assert thread_count() == (expected or cpu_count())


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        pytest.param({}, 1_000_000 * 1024, id="the machine's"),
        pytest.param(
            {"memory.max": "max\n", "memory.current": "5\n"}, 1_000_000 * 1024, id="v2, no limit"
        ),
        pytest.param(
            {
                "memory.max": "1000000\n",
                "memory.current": "700000\n",
                "memory.stat": "anon 400000\ninactive_file 200000\nactive_file 50000\n",
            },
            550_000,
            id="v2: what is left, and pages of files",
        ),
        pytest.param(
            {
                "memory/memory.limit_in_bytes": "1000000\n",
                "memory/memory.usage_in_bytes": "900000\n",
                "memory/memory.stat": "inactive_file 5\ntotal_inactive_file 100000\n",
            },
            200_000,
            id="v1, children included",
        ),
        pytest.param(
            {"memory.max": "100\n", "memory.current": "200\n"}, 0, id="never less than nothing"
        ),
    ],
)
def test_free_memory(tmp_path: Path, files: dict[str, str], expected: int) -> None:
    meminfo = tree(tmp_path, {"meminfo": MEMINFO}) / "meminfo"
    assert free_memory(tree(tmp_path / "cgroup", files), meminfo) == expected


def test_this_process_has_had_some_memory() -> None:
    assert peak_memory() > 1 << 20


def test_waiting_is_not_work() -> None:
    before = busy_seconds()
    time.sleep(0.2)
    assert busy_seconds() - before < 0.1


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads /proc")
def test_freed_memory_goes_back_to_the_machine() -> None:
    blocks = [bytearray(100_000) for _ in range(1000)]  # too small to be mapped one by one
    keep = blocks[-1]
    held = anonymous_bytes(os.getpid())
    blocks.clear()
    release_memory()
    assert anonymous_bytes(os.getpid()) < held - 50_000_000
    assert len(keep) == 100_000


HOLES = """
import ctypes, os, sys
from modelexport_exporter.core.machine import free_large_blocks_at_once
from modelexport_exporter.core.memory import anonymous_bytes
if sys.argv[1] == "at once":
    free_large_blocks_at_once()
libc = ctypes.CDLL("libc.so.6")
libc.malloc.restype = ctypes.c_void_p
libc.free.argtypes = [ctypes.c_void_p]

def allocate(size):
    block = libc.malloc(ctypes.c_size_t(size))
    ctypes.memset(block, 1, size)
    return block

libc.free(allocate(16 << 20))
before = anonymous_bytes(os.getpid())
blocks = [allocate(2 << 20) for _ in range(32)]
for block in blocks[:-1]:
    libc.free(block)
print((anonymous_bytes(os.getpid()) - before) >> 20)
"""


@pytest.mark.parametrize(("when", "kept"), [("later", 64), ("at once", 2)])
def test_large_blocks_leave_no_holes(when: str, kept: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", HOLES, when], capture_output=True, text=True, check=True
    )
    assert abs(int(done.stdout) - kept) <= 1
