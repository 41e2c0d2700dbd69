"""Whose code a file is."""

from __future__ import annotations

import importlib
import sysconfig
from pathlib import Path
from typing import Any

import pytest

from modelexport_exporter.core import user_frame
from modelexport_exporter.core.user_frame import (
    UserLine,
    count_as_users,
    is_users,
    model_line,
    running_model_line,
    user_line,
)

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


def defined_in(filename: str, source: str) -> Any:  # noqa: ANN401 - a function of any arguments
    """Return the function `f` of a source, as if it stood in that file."""
    names: dict[str, Any] = {}
    exec(compile(source, filename, "exec"), names)
    return names["f"]


IN_LIBRARY = str(INSTALLED / "transformers" / "models" / "net" / "modeling_net.py")
IN_TORCH = str(INSTALLED / "torch" / "nn" / "modules" / "module.py")
FAILS = defined_in(IN_TORCH, "def f(_): raise ValueError")
CALLS = "def f(inner):\n    return inner(None)\n"


@pytest.mark.parametrize(
    ("filename", "expected"),
    [
        pytest.param(IN_LIBRARY, UserLine("modeling_net.py:2", "f"), id="library of models"),
        pytest.param("/code/net.py", UserLine("net.py:2", "f"), id="user"),
        pytest.param(IN_TORCH, None, id="torch"),
    ],
)
def test_where_no_line_is_the_users_the_librarys_is_named(
    filename: str, expected: UserLine | None
) -> None:
    code_dir = Path("/code")
    with pytest.raises(ValueError, match=r"^$") as caught:
        defined_in(filename, CALLS)(FAILS)
    caught.value.__traceback__ = caught.tb.tb_next  # without this test's own frame
    assert model_line(caught.value, code_dir) == expected
    assert (user_line(caught.value, code_dir) is None) == (filename != "/code/net.py")


def test_of_what_is_running_the_users_line_comes_first() -> None:
    found = defined_in(IN_LIBRARY, CALLS)(lambda _: running_model_line(None))
    assert found is not None
    assert found.source.startswith("test_user_frame.py:")
