"""What no disk holds, and credentials, are named by no URI: directly, by `..` or by a link."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from modelexport_api.claims import CLAIMS_DIR_ENV
from modelexport_api.pod import MANIFEST_ENV
from modelexport_api.reasons import Reason
from modelexport_api.spec import ModelExportSpec, Storage
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.source.fetch import identify
from modelexport_exporter.source.fetch_code import check_code, fetch_code
from modelexport_exporter.source.fetch_inputs import fetch_inputs
from modelexport_exporter.source.fetch_libraries import fetch_libraries
from modelexport_exporter.storage.files import FileStore
from modelexport_exporter.storage.locate import locate
from modelexport_exporter.storage.refused_places import devices_of
from modelexport_exporter.storage.store import Role

SECRET = "aws_secret_access_key = top-secret"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home directory with credentials."""
    home = tmp_path / "home"
    (home / ".aws").mkdir(parents=True)
    (home / ".aws" / "credentials").write_text(SECRET)
    (home / ".netrc").write_text(SECRET)
    monkeypatch.setenv("HOME", str(home))
    return home


def spec_of(uri: str) -> ModelExportSpec:
    return ModelExportSpec.model_validate(
        {
            "source": {"uri": uri},
            "model": {"factory": "net:build", "code": {"uri": uri}},
            "inputs": [{"name": "x", "shape": [4]}],
            "verification": {"goldenInputs": uri},
            "destination": {"uri": "file:///tmp/out/"},
        }
    )


def source(uri: str, _run: Path) -> object:
    return identify(locate(uri, Storage(), Role.SOURCE), spec_of(uri).source)


def code(uri: str, run: Path) -> object:
    location = locate(uri, Storage(), Role.CODE)
    check_code(location)
    return fetch_code(location, run, spec_of(uri))


def samples(uri: str, run: Path) -> object:
    return fetch_inputs(spec_of(uri), run / "inputs")


def library(uri: str, run: Path) -> object:
    return fetch_libraries([locate(uri, Storage(), Role.CODE)], run)


FETCHES: dict[str, Callable[[str, Path], object]] = {
    "source": source,
    "code": code,
    "golden samples": samples,
    "library": library,
}

FILES = (
    "/proc/self/environ",
    "/proc/../proc/self/maps",
    "/proc/cpuinfo",
    "/proc/thread-self/status",
    "/sys/kernel/notes",
    "/dev/zero",
    "/dev/null",
    "{at}/link",
    "{at}/directory/self/environ",
    "{at}/pipe",
    "{at}/socket",
    "{at}/to-pipe",
    "{at}/aws",
    "{home}/.aws/credentials",
    "{home}/.netrc",
    "{home}/../home/.aws/credentials",
)


@pytest.fixture
def at(tmp_path: Path, home: Path) -> Path:
    """A directory that somebody else wrote."""
    made = tmp_path / "cloned"
    made.mkdir()
    (made / "net.py").write_text("")
    (made / "link").symlink_to("/proc/self/environ")
    (made / "directory").symlink_to("/proc")
    (made / "to-pipe").symlink_to("pipe")
    (made / "aws").symlink_to(home / ".aws" / "credentials")
    os.mkfifo(made / "pipe")
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(made / "socket"))
    return made


@pytest.mark.parametrize("path", FILES)
@pytest.mark.parametrize("kind", FETCHES)
def test_no_file_is_fetched(kind: str, path: str, at: Path, home: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    (run / "inputs").mkdir(parents=True)
    with pytest.raises(ExportFailure) as refused:
        FETCHES[kind]("file://" + path.format(at=at, home=home), run)
    assert refused.value.reason is Reason.ACCESS_DENIED
    assert "cannot be read" in refused.value.message
    assert refused.value.hint
    assert not [path for path in run.rglob("*") if path.is_file()]


@pytest.mark.parametrize(
    "path", ["/proc/self/fd/", "/proc/", "/sys/", "/dev/", "/dev/pts/", "{at}/directory/self/fd/"]
)
@pytest.mark.parametrize("kind", ["source", "code"])
def test_no_directory_is_fetched(kind: str, path: str, at: Path, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    with pytest.raises(ExportFailure, match="what the kernel and its processes show") as refused:
        FETCHES[kind](f"file://{path.format(at=at)}", tmp_path / "run")
    assert refused.value.reason is Reason.ACCESS_DENIED


@pytest.mark.parametrize("name", ["link", "aws"])
def test_a_link_in_code_is_refused_and_named(name: str, at: Path, tmp_path: Path) -> None:
    for other in {"link", "aws"} - {name}:
        (at / other).unlink()
    (tmp_path / "run").mkdir()
    with pytest.raises(ExportFailure, match=f"cloned/{name} cannot be read") as refused:
        code(f"file://{at}/", tmp_path / "run")
    assert refused.value.reason is Reason.ACCESS_DENIED
    assert not [path for path in (tmp_path / "run").rglob(name) if SECRET in path.read_text()]


def test_ignored_links_pipes_and_credentials_do_not_hinder_code(at: Path, tmp_path: Path) -> None:
    (at / ".gitignore").write_text("link\naws\nto-pipe\n")
    (tmp_path / "run").mkdir()
    fetched = fetch_code(locate(f"file://{at}/", Storage(), Role.CODE), tmp_path / "run")
    assert (fetched / "net.py").exists()
    assert not (fetched / "pipe").exists()


def test_code_in_the_home_directory_is_without_credentials(home: Path, tmp_path: Path) -> None:
    (home / "net.py").write_text("")
    (tmp_path / "run").mkdir()
    fetched = fetch_code(locate(f"file://{home}/", Storage(), Role.CODE), tmp_path / "run")
    assert [path.name for path in fetched.rglob("*")] == ["net.py"]


@pytest.mark.parametrize("name", ["pipe", "run/pipe", "to-pipe"])
def test_a_pipe_in_a_claim_is_refused(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    volume = tmp_path / "claims" / "training"
    (volume / "run").mkdir(parents=True)
    os.mkfifo(volume / "pipe")
    os.mkfifo(volume / "run" / "pipe")
    (volume / "to-pipe").symlink_to("run/pipe")
    monkeypatch.setenv(CLAIMS_DIR_ENV, str(tmp_path / "claims"))
    with pytest.raises(ExportFailure, match="it is a named pipe") as refused:
        source(f"pvc://training/{name}", tmp_path)
    assert refused.value.reason is Reason.ACCESS_DENIED


@pytest.mark.parametrize("key", ["/proc/x", "/sys/x", "/dev/x", "{home}/.aws/x"])
def test_nothing_is_published_there(key: str, home: Path) -> None:
    with pytest.raises(ExportFailure, match="cannot be written") as refused:
        FileStore(Role.DESTINATION).write(key.format(home=home), b"x")
    assert refused.value.reason is Reason.DESTINATION_DENIED


def test_shared_memory_is_of_the_pod_and_of_a_workstation_s_user(
    workers_log: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    workers_log.write_bytes(b"x")
    assert source(f"file://{workers_log}", tmp_path)
    monkeypatch.setenv(MANIFEST_ENV, "{}")
    with pytest.raises(ExportFailure, match="/dev/shm has no stored files"):
        source(f"file://{workers_log}", tmp_path)


@pytest.mark.parametrize(
    ("line", "refused"),
    [
        ("22 27 0:21 / /proc rw - proc proc rw", True),
        ("22 27 0:21 / /host/proc rw shared:1 master:2 - proc proc rw", True),
        ("24 27 0:6 / /dev rw - tmpfs tmpfs rw", True),
        ("25 24 0:23 / /dev/shm rw - tmpfs shm rw", True),
        ("25 24 0:23 / /scratch rw - tmpfs tmpfs rw", False),
        ("25 24 0:23 / /devices rw - tmpfs tmpfs rw", False),
        ("25 24 8:1 /logs /dev/termination-log rw - ext4 /dev/sda rw", False),
        ("27 1 0:40 / / rw - overlay overlay rw", False),
        ("a line of another kernel", False),
    ],
)
def test_file_systems_by_their_mounts(line: str, *, refused: bool) -> None:
    assert bool(devices_of(line, shared_memory=False)) is refused


def test_shared_memory_of_a_workstation_is_no_device() -> None:
    assert not devices_of("25 24 0:23 / /dev/shm rw - tmpfs shm rw", shared_memory=True)
    assert devices_of("25 24 0:23 / /dev/mqueue rw - mqueue mqueue rw", shared_memory=True)
