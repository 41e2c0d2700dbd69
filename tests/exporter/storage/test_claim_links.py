"""A volume's content is not trusted: no link in it leads the exporter out of it."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from modelexport_api.reasons import Reason
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.storage.claims import ClaimStore
from modelexport_exporter.storage.files import FileStore
from modelexport_exporter.storage.store import ConditionFailedError, Role
from modelexport_exporter.storage.tree import LeavesRootError, Tree
from modelexport_exporter.storage.tree_writing import PendingFile

CONTENT = b"of the claim"


@pytest.fixture
def volume(tmp_path: Path) -> Path:
    """A volume with files and links, next to a directory that is not in it."""
    outside, volume = tmp_path / "outside", tmp_path / "volume"
    for directory in (outside, volume / "run"):
        directory.mkdir(parents=True)
    (outside / "secret").write_bytes(b"secret")
    (volume / "run" / "model.pt").write_bytes(CONTENT)
    for name, target in {
        "latest": "run",
        "run/best.pt": "model.pt",
        "run/again": "../latest/../run/best.pt",
        "loop": "loop",
        "dangling": "nothing",
        "up": "../outside",
        "up.pt": "../outside/secret",
        "absolute": str(outside),
        "absolute.pt": str(outside / "secret"),
        "run/deep": "../../outside",
        "proc": "/proc/self/environ",
        "run/chain": "../latest/deep/secret",
    }.items():
        (volume / name).symlink_to(target)
    return volume


def store(volume: Path, role: Role = Role.SOURCE) -> ClaimStore:
    return ClaimStore("training", volume, role)


@pytest.mark.parametrize("key", ["run/model.pt", "latest/model.pt", "latest/best.pt", "run/again"])
def test_links_within_the_volume_are_followed(volume: Path, tmp_path: Path, key: str) -> None:
    found = store(volume).stat(key)
    assert found is not None
    assert found.key == key
    store(volume).download(found, tmp_path / "copy", lambda _moved: None)
    assert (tmp_path / "copy").read_bytes() == CONTENT
    assert store(volume).digest(key) == hashlib.sha256(CONTENT).hexdigest()


OUT = ["up/secret", "up.pt", "absolute/secret", "absolute.pt", "run/deep/secret", "proc",
       "run/chain", "latest/../../outside/secret", ".."]  # fmt: skip


@pytest.mark.parametrize(
    "key", ["absolute.pt", "up.pt", "run/deep/secret", "absolute/secret", "run/../up/secret"]
)
def test_file_uris_are_not_confined(volume: Path, key: str) -> None:
    files = FileStore(Role.SOURCE)
    found = files.read(f"/../..{volume}/{key}")
    assert found is not None
    assert found[0] == b"secret"
    assert files.names(f"{volume}/absolute/") == ["secret"]


READS: dict[str, Callable[[ClaimStore, str], object]] = {
    "stat": lambda claim, key: claim.stat(key),
    "read": lambda claim, key: claim.read(key),
    "digest": lambda claim, key: claim.digest(key),
    "copy": lambda claim, key: claim.copy(key, "copied"),
    "names": lambda claim, key: claim.names(f"{key}/"),
    "list": lambda claim, key: claim.list_all(f"{key}/"),
}


@pytest.mark.parametrize("key", OUT)
@pytest.mark.parametrize("how", READS)
def test_nothing_is_read_outside(volume: Path, how: str, key: str) -> None:
    with pytest.raises(ExportFailure, match="out of the volume") as refused:
        READS[how](store(volume), key)
    assert refused.value.reason in {Reason.ACCESS_DENIED, Reason.DESTINATION_DENIED}
    assert not (volume / "copied").exists()


@pytest.mark.parametrize("key", ["up/new", "absolute/new", "run/deep/new", "up/a/b/new", "../new"])
def test_nothing_is_written_or_deleted_outside(volume: Path, tmp_path: Path, key: str) -> None:
    before = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*"))
    claim = store(volume, Role.DESTINATION)
    source = tmp_path / "run.onnx"
    source.write_bytes(b"x")
    for write in (
        lambda: claim.write(key, b"x"),
        lambda: claim.write_if(key, b"x", replaces=None),
        lambda: claim.copy("run/model.pt", key),
        lambda: claim.stage(source, key, key.rpartition("/")[0], lambda _n: None),
        lambda: claim.stage(source, key, "staging", lambda _n: None).publish(),
        lambda: claim.delete([key.replace("new", "secret")]),
    ):
        with pytest.raises(ExportFailure, match="out of the volume") as refused:
            write()
        assert refused.value.reason is Reason.DESTINATION_DENIED
    source.unlink()
    shutil.rmtree(volume / "staging")
    assert sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*")) == before


def test_a_link_at_a_written_name_is_replaced_and_not_followed(
    volume: Path, tmp_path: Path
) -> None:
    claim = store(volume, Role.DESTINATION)
    claim.write("up.pt", b"new")
    assert (volume / "up.pt").read_bytes() == b"new"
    claim.delete(["absolute.pt"])
    with pytest.raises(ConditionFailedError):
        claim.write_if("dangling", b"new", replaces=None)
    assert (tmp_path / "outside" / "secret").read_bytes() == b"secret"


def test_a_listing_leaves_out_what_is_not_in_the_volume(volume: Path) -> None:
    keys = [found.key for found in store(volume).list_all("")]
    assert keys == ["run/again", "run/best.pt", "run/model.pt"]
    assert "up/" in store(volume).names("")


def test_staging_directories_that_are_links_are_not_emptied(volume: Path, tmp_path: Path) -> None:
    claim = store(volume, Role.DESTINATION)
    (volume / ".staging").mkdir()
    (volume / ".staging" / "ours-1").symlink_to(tmp_path / "outside")
    (volume / ".staging" / "ours-2").mkdir()
    claim.discard_staged("", lambda _name: True, ".staging/ours-")
    assert (tmp_path / "outside" / "secret").exists()
    assert not (volume / ".staging" / "ours-2").exists()


def test_a_staged_file_that_another_pod_replaced_is_not_published(
    volume: Path, tmp_path: Path
) -> None:
    source = tmp_path / "model.onnx"
    source.write_bytes(b"verified")
    claim = store(volume, Role.DESTINATION)
    pending = claim.stage(source, "out/model.1.onnx", "out/.staging/x", lambda _n: None)
    assert isinstance(pending, PendingFile)
    staged = volume / pending.staged
    staged.unlink()
    staged.write_bytes(b"hostile!")
    with pytest.raises(ExportFailure) as refused:
        pending.publish()
    assert refused.value.reason is Reason.ARTIFACT_CHANGED
    assert not (volume / "out" / "model.1.onnx").exists()


def test_a_directory_that_becomes_a_link_after_it_was_opened_changes_nothing(
    volume: Path, tmp_path: Path
) -> None:
    with Tree(volume).entry("run/model.pt") as (above, name):
        (volume / "run").rename(volume / "moved")
        (volume / "run").symlink_to(tmp_path / "outside")
        assert os.stat(name, dir_fd=above).st_size == len(CONTENT)
    with pytest.raises(LeavesRootError):
        Tree(volume).stat("run/model.pt")


def test_a_named_pipe_is_no_file_and_nobody_waits_for_it(volume: Path) -> None:
    os.mkfifo(volume / "pipe")
    for ask in (store(volume).stat, store(volume).read):
        with pytest.raises(ExportFailure, match="it is a named pipe, not a file"):
            ask("pipe")
    assert "pipe" not in {found.key for found in store(volume).list_all("")}


def test_a_link_to_itself_is_no_file(volume: Path) -> None:
    assert store(volume).stat("loop") is None
    assert store(volume).names("loop/") == []


@pytest.mark.parametrize(
    ("role", "reason"),
    [
        (Role.SOURCE, Reason.SOURCE_NOT_FOUND),
        (Role.CODE, Reason.CODE_INVALID),
        (Role.DESTINATION, Reason.DESTINATION_DENIED),
    ],
)
def test_a_claim_that_is_not_mounted_is_named(tmp_path: Path, role: Role, reason: Reason) -> None:
    with pytest.raises(ExportFailure, match="the claim training is not mounted") as refused:
        store(tmp_path / "nothing", role).stat("model.pt")
    assert refused.value.reason is reason
