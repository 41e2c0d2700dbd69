"""The cache is complete or empty, and one process builds at a time."""

from __future__ import annotations

from pathlib import Path

import pytest

from bed import places


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MODELEXPORT_TESTBED", str(tmp_path))
    return tmp_path


def test_the_cache_follows_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MODELEXPORT_TESTBED")
    monkeypatch.setenv("XDG_CACHE_HOME", "/caches")
    assert places.cache() == Path("/caches/modelexport-testbed")


def test_a_directory_appears_with_its_content(own_cache: Path) -> None:
    target = own_cache / "bin/etcd-1"
    with places.appearing(target) as unfinished:
        (unfinished / "etcd").touch()
        assert not target.exists()
    assert (target / "etcd").exists()


def build_and_fail(target: Path) -> None:
    with places.appearing(target) as unfinished:
        (unfinished / "etcd").touch()
        raise RuntimeError("compiler")


def test_a_failed_build_leaves_nothing(own_cache: Path) -> None:
    with pytest.raises(RuntimeError, match="compiler"):
        build_and_fail(own_cache / "bin/etcd-1")
    assert list((own_cache / "bin").iterdir()) == []


def test_only_one_is_alone() -> None:
    with places.alone("node") as first, places.alone("node") as second:
        assert (first, second) == (True, False)
    with places.alone("node") as again:
        assert again
