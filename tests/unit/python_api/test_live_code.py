"""Which modules of the caller go along as code, and which by their names."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import cloudpickle
import pytest

from modelexport.live_code import (
    by_value,
    digests_of,
    moved_by_value,
    own_modules,
    place_of,
    places_of,
)

NET = """
import functools

def logged(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(*args)
    return wrapper

class Net:
    scale = 2

    @property
    def half(self):
        return self.scale / 2

    @staticmethod
    def double(x):
        return x * 2

    @logged
    def forward(self, x):
        return [y + 1 for y in x]
"""

Written = Callable[[str], ModuleType]


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Written]:
    """Imports a module of the user with this text."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def importing(text: str) -> ModuleType:
        (tmp_path / "users_net.py").write_text(text)
        importlib.invalidate_caches()
        return importlib.import_module("users_net")

    yield importing
    sys.modules.pop("users_net", None)


def moved(module: ModuleType) -> bool:
    return module in moved_by_value({module.__name__: module})


def edit(module: ModuleType, old: str, new: str) -> None:
    file = Path(str(module.__file__))
    text = file.read_text().replace(old, new)
    assert text != file.read_text()
    file.write_text(text)
    os.utime(file, (2e9, 2e9))  # the bytecode of the same second and size would count as current


def test_a_users_module_is_own_and_a_library_is_not(written: Written) -> None:
    written(NET)
    own = own_modules()
    assert "users_net" in own
    assert not {"pytest", "cloudpickle", "json", "modelexport", "__main__"} & set(own)


def test_a_module_goes_by_its_name(written: Written) -> None:
    assert not moved(written(NET))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("y + 1", "y + 2"),
        ("/ 2", "/ 3"),
        ("x * 2", "x * 3"),
        ("return function(*args)", "return [*function(*args)]"),
    ],
)
def test_a_module_that_was_edited_since_goes_along(written: Written, old: str, new: str) -> None:
    module = written(NET)
    edit(module, old, new)
    assert moved(module)
    assert not moved(importlib.reload(module))


def test_a_module_whose_file_is_wrong_or_gone_now_goes_along(written: Written) -> None:
    module = written(NET)
    edit(module, "class Net:", "class Net")
    assert moved(module)
    Path(str(module.__file__)).unlink()
    assert moved(module)


@pytest.mark.parametrize(
    ("name", "file", "expected"),
    [
        ("net", "/a/net.py", "/a"),
        ("pack.net", "/a/pack/net.py", "/a"),
        ("pack", "/a/pack/__init__.py", "/a"),
        ("pack.inner", "/a/pack/inner/__init__.py", "/a"),
        ("other", "/a/net.py", None),
        ("pack.net", "/a/net.py", None),
        ("net", "net.py", None),
    ],
)
def test_the_place_of_a_module(name: str, file: str, expected: str | None) -> None:
    assert place_of(name, file) == expected


def test_places_and_digests(written: Written, tmp_path: Path) -> None:
    modules = {"users_net": written(NET)}
    assert places_of(modules) == (str(tmp_path),)
    before = digests_of(modules)
    edit(modules["users_net"], "y + 1", "y + 2")
    assert digests_of(modules) != before


def test_code_that_goes_along_needs_no_file(written: Written) -> None:
    module = written(NET)
    with by_value([module]):
        data = cloudpickle.dumps(module.Net)
    assert "users_net" not in cloudpickle.list_registry_pickle_by_value()
    Path(str(module.__file__)).unlink()
    del sys.modules["users_net"]
    assert cloudpickle.loads(data)().forward([1]) == [2]


def test_what_the_user_registered_stays(written: Written) -> None:
    module = written(NET)
    cloudpickle.register_pickle_by_value(module)
    with by_value([module]):
        pass
    assert "users_net" in cloudpickle.list_registry_pickle_by_value()
    cloudpickle.unregister_pickle_by_value(module)
