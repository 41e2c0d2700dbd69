"""Bytecode of what workers import."""

from __future__ import annotations

import os
import sys
from importlib.util import cache_from_source, find_spec
from pathlib import Path

import pytest

from modelexport_exporter.isolation.bytecode import PACKAGES, compile_in_background

NAME = "package_without_bytecode"


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a package of two levels that was never imported."""
    package = tmp_path / NAME
    (package / "inner").mkdir(parents=True)
    for path in (package / "__init__.py", package / "inner" / "module.py"):
        path.write_text("NUMBER = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    return package


def _compile() -> int | None:
    process = compile_in_background([NAME])
    return None if process is None else process.wait(60)


def test_what_has_no_bytecode_gets_it_once(package: Path) -> None:
    assert _compile() == 0
    for source in package.rglob("*.py"):
        assert Path(cache_from_source(source)).exists()
    assert _compile() is None


def test_a_changed_source_is_compiled_again(package: Path) -> None:
    _compile()
    changed = package / "inner" / "module.py"
    later = changed.stat().st_mtime + 10
    os.utime(changed, (later, later))
    assert _compile() == 0


def test_the_working_directory_is_not_searched(
    package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "compileall.py").write_text("raise SystemExit(3)\n")
    monkeypatch.chdir(tmp_path)
    assert _compile() == 0
    assert package.exists()


def test_who_wants_no_bytecode_gets_none(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert _compile() is None
    assert not list(package.rglob("*.pyc"))


def test_a_package_that_is_not_there_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    assert compile_in_background(["no_such_package"]) is None


@pytest.mark.parametrize("name", PACKAGES)
def test_all_packages_exist(name: str) -> None:
    assert find_spec(name) is not None
