"""Whose code a file is."""

from __future__ import annotations

import importlib
import sysconfig
from pathlib import Path

import pytest

from modelexport_exporter.core import user_frame
from modelexport_exporter.core.user_frame import count_as_users, is_users

INSTALLED = Path(sysconfig.get_path("purelib"))


@pytest.mark.parametrize(
    ("filename", "expected"),
    [
        ("/code/net.py", True),
        ("/home/somebody/net.py", True),
        (str(INSTALLED / "torch" / "nn" / "modules" / "linear.py"), False),
        (user_frame.__file__, False),
        ("<string>", False),
    ],
)
def test_whose_a_file_is(filename: str, expected: bool) -> None:
    assert is_users(filename, Path("/code")) is expected


def test_an_installed_package_that_the_manifest_names_is_the_users(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "acme_nets" / "zoo").mkdir(parents=True)
    (tmp_path / "acme_nets" / "__init__.py").touch()
    (tmp_path / "acme_nets" / "zoo" / "rules.py").touch()
    (tmp_path / "acme_single.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(user_frame, "_LIBRARIES", (str(tmp_path),))
    monkeypatch.setattr(user_frame, "_packages", set())
    importlib.import_module("acme_nets.zoo.rules")
    importlib.import_module("acme_single")
    own, single = tmp_path / "acme_nets" / "zoo" / "rules.py", tmp_path / "acme_single.py"
    assert not is_users(str(own), None)
    count_as_users("acme_nets.zoo.rules")
    assert is_users(str(own), None)
    assert not is_users(str(single), None)
    count_as_users("acme_single")
    assert is_users(str(single), None)
    assert not is_users(str(tmp_path / "acme_nets_2" / "rules.py"), None)


@pytest.mark.parametrize("name", ["torch.nn", "transformers.models.bert", "collections"])
def test_a_framework_that_the_manifest_names_is_not(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(user_frame, "_packages", set())
    count_as_users(name)
    assert not is_users(str(INSTALLED / name.replace(".", "/") / "x.py"), None)
