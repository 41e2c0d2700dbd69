"""Hostile code in a real worker, on the real kernel: with the sandbox, and what it does without."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from multiprocessing import forkserver
from pathlib import Path
from typing import Any

import pytest

from hostile_code import ATTACKS
from modelexport_api.claims import CLAIMS_DIR_ENV
from modelexport_api.isolation import Isolation, Network
from modelexport_api.reasons import Reason
from modelexport_api.spec import ModelExportSpec
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.memory import MemoryWatch
from modelexport_exporter.isolation.sandbox import limits, linux, seccomp
from modelexport_exporter.isolation.sandbox.enter import ask_kernel, sandbox_for
from modelexport_exporter.isolation.sandbox.limits import Limits
from modelexport_exporter.isolation.sandbox.policy import Sandbox
from modelexport_exporter.isolation.server import start_server
from modelexport_exporter.isolation.worker import run as run_worker
from modelexport_exporter.isolation.worker import sandboxed

NOBODY = 65534
ERRNO, RETURN, LOAD, EQUAL, ALLOW = 0x0005_0000, 0x06, 0x20, 0x15, 0x7FFF_0000
LANDLOCK, ENOSYS = 444, 38


def spec(network: Network = Network.CLOSED, **fields: object) -> ModelExportSpec:
    return ModelExportSpec.model_validate(
        {
            "source": {"uri": "file:///x.pt"},
            "model": {"factory": "net:build", "network": network},
            "inputs": [{"name": "x", "dtype": "float32", "shape": [1]}],
            "destination": {"uri": "file:///out/"},
            **fields,
        }
    )


def run(sandbox: Sandbox | None, entry: str, *arguments: object) -> object:
    start_server(("small_workers",))
    with ExitStack() as held:
        if sandbox is not None:
            held.enter_context(sandboxed(sandbox))
        return run_worker(
            f"hostile_code:{entry}",
            arguments,
            object,
            on_progress=lambda *_progress: None,
            on_output=lambda _line: None,
            memory=MemoryWatch(),
            deadline=time.monotonic() + 240,
        )


@pytest.fixture(scope="module")
def aim(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """A run's workspace, what is near it, and a process of the same user."""
    root = tmp_path_factory.mktemp("aims")
    for name in (
        "home/.aws",
        "work/modelexport-run-mine/checkpoint",
        "work/modelexport-run-mine/code",
        "work/modelexport-run-other",
        "outside",
        "tokens/..2026",
        "volumes/team",
    ):
        (root / name).mkdir(parents=True)
    (root / "tokens/..2026/token").write_text("secret")
    (root / "volumes/team/other.pt").write_text("another's")
    # As the kubelet mounts it.
    (root / "tokens/..data").symlink_to("..2026")
    (root / "tokens/token").symlink_to("..data/token")
    (root / "work/modelexport-run-other/checkpoint").write_text("another's")
    with ExitStack() as held:
        listener = held.enter_context(socket.create_server(("127.0.0.1", 0)))
        abstract = held.enter_context(socket.socket(socket.AF_UNIX))
        name = f"modelexport-{os.getpid()}"
        abstract.bind("\0" + name)
        abstract.listen(50)
        victim = subprocess.Popen(["sleep", "600"], env={"SECRET": "secret"})
        held.callback(victim.wait)
        held.callback(victim.kill)
        yield {
            "token": str(root / "tokens/token"),
            "home": str(root / "home"),
            "workspace": str(root / "work/modelexport-run-mine"),
            "checkpoint": str(root / "work/modelexport-run-mine/checkpoint/model.pt"),
            "code": str(root / "work/modelexport-run-mine/code"),
            "outputs": str(root / "work/modelexport-run-mine/out"),
            "other": str(root / "work/modelexport-run-other"),
            "outside": str(root / "outside"),
            "claim": str(root / "volumes/team"),
            "pid": victim.pid,
            "port": listener.getsockname()[1],
            "abstract": name,
        }


@pytest.fixture
def sandbox(aim: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> Sandbox:
    """The sandbox of a run whose isolation is required: this kernel has all of it."""
    monkeypatch.setenv("HOME", aim["home"])
    monkeypatch.setenv("AWS_WEB_IDENTITY_TOKEN_FILE", aim["token"])
    Path(aim["outside"], "there").write_text("here")
    Path(aim["checkpoint"]).write_text("weights")
    Path(aim["workspace"], "lock").touch()
    Path(aim["code"]).mkdir(exist_ok=True)
    monkeypatch.setenv(CLAIMS_DIR_ENV, str(Path(aim["claim"]).parent))
    source = {"uri": "pvc://team/model.pt"}
    return sandbox_for(spec(isolation=Isolation.REQUIRED, source=source), Path(aim["workspace"]))


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_is_refused_in_the_sandbox_and_works_without(
    name: str, aim: dict[str, Any], sandbox: Sandbox
) -> None:
    inside, outside = (run(where, "attack", name, aim) for where in (sandbox, None))
    assert str(inside).startswith("refused"), inside
    if name != "new namespace" or os.geteuid() == 0:  # a distribution may refuse it to users
        assert str(outside).startswith("done"), outside


def test_the_fork_server_forks_for_the_supervisor_only(sandbox: Sandbox) -> None:
    start_server(("small_workers",))
    address = forkserver._forkserver._forkserver_address  # type: ignore[attr-defined]
    assert run(sandbox, "ask_the_fork_server", address) == "refused"
    assert run(sandbox, "attack", "write outside", {"outside": "/"}) == "refused Permission denied"


@pytest.mark.parametrize("name", ["TCP", "UDP"])
def test_the_manifest_opens_the_network(name: str, aim: dict[str, Any], sandbox: Sandbox) -> None:
    found = run(replace(sandbox, network=Network.OPEN), "attack", name, aim)
    assert str(found).startswith("done"), found


def test_a_file_that_would_fill_the_disk_is_a_typed_failure(
    aim: dict[str, Any], sandbox: Sandbox
) -> None:
    small = replace(sandbox, limits=Limits(1 << 20, None))
    run(small, "fill_the_disk", aim["outputs"], 1 << 19)
    with pytest.raises(ExportFailure) as caught:
        run(small, "fill_the_disk", aim["outputs"], 1 << 21)
    assert caught.value.reason is Reason.DISK_FULL


def test_processes_without_end_reach_a_limit() -> None:
    reader, writer = os.pipe()
    user = NOBODY if os.geteuid() == 0 else os.geteuid()
    child = os.fork()
    if child == 0:
        # root has no such limit, so another user it is.
        limits.apply(Limits(1 << 30, 8 if user == NOBODY else limits.tasks_of_this_user() + 8))
        os.setuid(user)
        made = 0
        try:
            for _ in range(64):
                if os.fork() == 0:
                    time.sleep(60)
                    os._exit(0)
                made += 1
        except OSError:
            os.write(writer, str(made).encode())
        os.write(writer, b" of 64")
        time.sleep(60)
    os.close(writer)
    try:
        assert int(os.read(reader, 100).split()[0]) <= 8
    finally:
        os.close(reader)
        for pid in [*_children(child), child]:
            os.kill(pid, 9)
        os.waitpid(child, 0)


def _children(pid: int) -> list[int]:
    return [int(found) for found in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@pytest.mark.usefixtures("torch_workers")
def test_what_models_do_every_day_works(sandbox: Sandbox) -> None:
    assert run(sandbox, "ordinary") == {
        "loaded": sum(range(8)),
        "spawned": 0,
        "shared": 3,
        "providers": True,
        "threads": 256.0,
    }


@pytest.mark.nightly  # 13 s
@pytest.mark.usefixtures("torch_workers")
def test_kernels_are_compiled(sandbox: Sandbox) -> None:
    assert run(sandbox, "compiled") == 8.0


@pytest.mark.usefixtures("torch_workers")
@pytest.mark.parametrize(("network", "told"), [(Network.CLOSED, True), (Network.OPEN, False)])
def test_a_factory_that_downloads_names_the_field(
    network: Network, sandbox: Sandbox, *, told: bool
) -> None:
    with pytest.raises(ExportFailure) as caught:
        run(replace(sandbox, network=network), "download")
    assert caught.value.reason is Reason.FACTORY_FAILED
    assert ("model.network: Open" in caught.value.hint) is told


@pytest.mark.parametrize("isolation", Isolation)
def test_a_kernel_without_landlock(isolation: Isolation, tmp_path: Path) -> None:
    """A filter makes it one: as in a container whose seccomp profile does not know Landlock."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        machine = seccomp.this_machine()
        assert machine is not None
        linux.set_no_new_privileges()
        without = [
            (LOAD, 0, 0, 0),
            (EQUAL, 0, 1, LANDLOCK),
            (RETURN, 0, 0, ERRNO | ENOSYS),
            (RETURN, 0, 0, ALLOW),
        ]
        seccomp.install(machine, without)
        try:
            found = sandbox_for(spec(isolation=isolation), tmp_path).in_force.missing
        except ExportFailure as failure:
            found = [str(failure)]
        os.write(writer, "; ".join(found).encode())
        os._exit(0)
    os.close(writer)
    os.waitpid(child, 0)
    text = os.read(reader, 1000).decode()
    os.close(reader)
    assert "the kernel has no Landlock" in text
    assert text.startswith("IsolationUnavailable") is (isolation is Isolation.REQUIRED)


@pytest.mark.skipif(sys.platform != "linux", reason="Landlock is Linux's")
def test_this_kernel_has_all_of_it() -> None:
    kernel = ask_kernel()
    assert kernel.landlock_abi >= 6
    assert kernel.seccomp
