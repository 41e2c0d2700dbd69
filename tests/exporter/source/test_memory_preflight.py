"""Refused before the download: by a real limit where this machine has one, else by a given one."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from modelexport_api.pod import MANIFEST_ENV
from modelexport_api.reasons import Reason
from modelexport_api.resource import ModelExport, parse
from modelexport_exporter.core.digests import SourceIdentity
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.stored_object import StoredObject
from modelexport_exporter.pod import TERMINATION_LOG_ENV, WORK_DIR_ENV
from modelexport_exporter.source import memory_preflight
from modelexport_exporter.source.memory_preflight import check_memory, memory_limit
from modelexport_exporter.storage.files import FileStore
from modelexport_exporter.storage.store import Role

GIB = 1 << 30
LEGACY = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."
SAFETENSORS = b"\x02\0\0\0\0\0\0\0{}"


def write_sparse(path: Path, head: bytes, size: int) -> Path:
    """Write a file that takes no disk: its head, and a hole."""
    with path.open("wb") as file:
        file.write(head)
        file.truncate(size)
    return path


def resource(checkpoint: Path) -> ModelExport:
    return parse(
        {
            "apiVersion": "modelexport.dev/v1alpha1",
            "kind": "ModelExport",
            "metadata": {"name": "large"},
            "spec": {
                "source": {"uri": f"file://{checkpoint}"},
                "model": {"factory": "model:build"},
                "inputs": [{"name": "x", "shape": [1, 8]}],
                "destination": {"uri": f"file://{checkpoint.parent}/out/"},
            },
        }
    )


def check(path: Path, limit: int) -> list[str]:
    """Return the warnings. Raises ExportFailure."""
    store, warnings = FileStore(Role.SOURCE), list[str]()
    found = store.stat(str(path))
    assert found is not None
    identity = SourceIdentity(store.uri(str(path)), (found,))
    check_memory(store, identity, warnings.append, limit)
    return warnings


def test_the_failure_has_both_numbers_and_what_to_do(tmp_path: Path) -> None:
    path = write_sparse(tmp_path / "old.pt", LEGACY, 8 * GIB)
    with pytest.raises(ExportFailure, match=r"needs about [\d.]+ GiB, limit 4 GiB") as refused:
        check(path, 4 * GIB)
    assert refused.value.reason is Reason.INSUFFICIENT_MEMORY
    assert not refused.value.describe().retryable
    assert "resources.limits.memory in spec.podTemplate" in refused.value.hint
    assert "safetensors" in refused.value.hint


def test_what_may_fit_is_warned_of_and_goes_on(tmp_path: Path) -> None:
    path = write_sparse(tmp_path / "old.pt", LEGACY, 7 * GIB // 2)
    (warning,) = check(path, 4 * GIB)
    assert "limit 4 GiB" in warning


def test_mapped_weights_are_larger_than_memory(tmp_path: Path) -> None:
    path = write_sparse(tmp_path / "model.safetensors", SAFETENSORS, 800 * GIB)
    assert check(path, 4 * GIB) == []


def test_what_fits_anyhow_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_sparse(tmp_path / "old.pt", LEGACY, GIB)

    def read(store: FileStore, found: StoredObject) -> None:
        raise AssertionError(f"{found.key} was read")

    monkeypatch.setattr(memory_preflight, "read_header", read)
    assert check(path, 16 * GIB) == []


@pytest.mark.parametrize(
    ("own", "swap", "expected"),
    [("1048576000", 0, 1048576000), ("max", 0, 4096000), ("2048000", 1000, 3072000)],
    ids=["more than the machine", "no limit", "swap"],
)
def test_the_limit_is_the_smaller_one_and_swap(
    tmp_path: Path, own: str, swap: int, expected: int
) -> None:
    group = tmp_path / "sys/fs/cgroup"
    group.mkdir(parents=True)
    (group / "memory.max").write_text(own)
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/cgroup").write_text("0::/\n")
    (tmp_path / "proc/meminfo").write_text(f"MemTotal: 4000 kB\nSwapTotal: {swap} kB\n")
    assert memory_limit(tmp_path) == min(expected, 4096000 + swap * 1024)


@pytest.fixture
def limited() -> Iterator[Path]:
    """A control group with 1 GiB of memory."""
    for mount, name in (
        (Path("/sys/fs/cgroup/memory"), "memory.limit_in_bytes"),
        (Path("/sys/fs/cgroup"), "memory.max"),
    ):
        group = mount / f"modelexport-test-{secrets.token_hex(4)}"
        try:
            group.mkdir()
            (group / name).write_text(str(GIB))
        except OSError:
            if group.is_dir():
                group.rmdir()
            continue
        yield group
        group.rmdir()
        return
    pytest.skip("needs root and a control group for memory")


def test_a_pod_ends_with_the_reason_before_it_imports_torch(limited: Path, tmp_path: Path) -> None:
    path = write_sparse(tmp_path / "old.pt", LEGACY, 8 * GIB)
    program = (
        "import os, sys; from pathlib import Path; Path(sys.argv[1]).write_text(str(os.getpid()));"
        "from modelexport_exporter.pod import run; code = run();"
        "assert 'torch' not in sys.modules; sys.exit(code)"
    )
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(sys.path),
        MANIFEST_ENV: json.dumps(resource(path).to_wire()),
        WORK_DIR_ENV: str(tmp_path / "work"),
        TERMINATION_LOG_ENV: str(tmp_path / "termination"),
    }
    (tmp_path / "work").mkdir()
    ended = subprocess.run(
        [sys.executable, "-c", program, str(limited / "cgroup.procs")],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ended.returncode == 18, ended.stderr
    failure = json.loads((tmp_path / "termination").read_text())["failure"]
    assert failure["reason"] == "InsufficientMemory"
    assert "limit 1 GiB" in failure["message"]
