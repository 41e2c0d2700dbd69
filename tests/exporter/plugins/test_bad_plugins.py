"""Plugins that cannot be loaded, or that clash: each is refused with its reason."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from exporter.plugins.plugin_exports import CODE, OPERATOR_MODULES
from modelexport_api.reasons import Reason
from modelexport_exporter.checkpoint.load import silent
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.types import ExportTask
from modelexport_exporter.plugins.plugins import load_plugins
from zoo.tasks import spec_for

pytestmark = pytest.mark.usefixtures("forget_plugins")


BAD = {
    "syntax": ("def f(:\n    pass\n", "bad_plugin.py:1"),
    "raises": ("x = 1\nraise ValueError('no GPU')\n", "ValueError: no GPU (bad_plugin.py:2"),
    "exits": ("import sys\nsys.exit(3)\n", "exits the process (code 3)"),
    "needs": ("import nowhere_to_be_found\n", "needs the module nowhere_to_be_found"),
    "table": ("custom_translation_table = [1]\n", "expected a dict"),
    "key": ("custom_translation_table = {1: print}\n", "an operator such as"),
    "packet": (
        "import torch\ncustom_translation_table = {torch.ops.aten.add_: print}\n",
        "one overload of it",
    ),
    "unknown": ("decompositions = {'aten::nothing': print}\n", "torch has no such operator"),
    "opset": ("custom_opsets = {'a': '1'}\n", "expected a positive int"),
    "functions": ("onnx_functions = [print]\n", "onnx.FunctionProto"),
    "session": ("configure_session = 3\n", "a function that takes the options"),
}


@pytest.mark.parametrize(("source", "expected"), BAD.values(), ids=BAD)
def test_bad_plugin_fails_with_its_reason(
    source: str, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "bad_plugin.py").write_text(source)
    failed = refused(tmp_path / "code", "bad_plugin", monkeypatch=monkeypatch)
    assert failed.reason is Reason.CODE_INVALID
    assert expected in failed.message


def test_missing_plugin_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_ops.py").touch()
    failed = refused(tmp_path, "my_op", monkeypatch=monkeypatch)
    assert "there is no module my_op" in failed.message
    assert "Did you mean my_ops?" in failed.hint


@pytest.mark.parametrize(
    ("plugins", "expected"),
    [
        (["foo_translation", "again"], "both define custom_ops.foo_forward.default"),
        (["old_elu", "elu_2_7"], "both register a symbolic function of aten::elu (opset 9)"),
    ],
    ids=["translations", "symbolics"],
)
def test_clash_of_plugins_is_named(
    plugins: list[str], expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in CODE.glob("*.py"):
        (tmp_path / path.name).write_text(path.read_text())
    (tmp_path / "again.py").write_text("from foo_translation import custom_translation_table\n")
    failed = refused(tmp_path, *plugins, monkeypatch=monkeypatch)
    assert failed.reason is Reason.CODE_INVALID
    assert expected in failed.message
    assert all(plugin in failed.message for plugin in plugins)


def refused(code: Path, *plugins: str, monkeypatch: pytest.MonkeyPatch) -> ExportFailure:
    """Load plugins from a directory of their own, and return the failure."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    spec = spec_for("translated_models:Elu", export={"plugins": list(plugins)})
    task = ExportTask(spec, code / "model.pt", code, code)
    with pytest.raises(ExportFailure) as failed:
        load_plugins(task, silent)
    loaded = {"bad_plugin", "again", *(path.stem for path in code.glob("*.py"))}
    for name in loaded - OPERATOR_MODULES:
        sys.modules.pop(name, None)
    return failed.value
