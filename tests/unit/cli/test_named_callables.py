"""A name that is certainly missing is reported; whatever may exist is left to Python."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from modelexport_api.reasons import Reason
from modelexport_cli.code_on_disk import code_at
from modelexport_cli.defined_names import names_in
from modelexport_cli.named_callables import require_callable
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.user_code.missing_names import Named

DEFINES = {
    "a function": "def build(): pass",
    "an async function": "async def build(): pass",
    "a class": "class build: pass",
    "a variable": "build = lambda: 1",
    "an annotated variable": "build: object = 1",
    "one of several": "a, (build, *c) = 1, (2, 3)",
    "an import": "from x import build",
    "a renamed import": "import x.y as build",
    "a condition": "if True:\n    def build(): pass",
    "try": "try:\n    from x import build\nexcept ImportError:\n    build = None",
    "a loop": "for build in (): pass",
    "with": "with open('x') as build: pass",
    "an assignment in an expression": "print(build := 1)",
    "a global of a function": "def set():\n    global build\n    build = 1",
    "a star": "from x import *",
    "getattr": "def __getattr__(name): return 1",
    "globals": "globals()['build'] = 1",
    "the module itself": "import sys\nsetattr(sys.modules[__name__], 'build', 1)",
    "exec": "exec('def build(): pass')",
}
LACKS = {
    "another function": "def built(): pass",
    "a local variable": "def f():\n    build = 1",
    "a method": "class A:\n    def build(self): pass",
    "nothing": "",
    "a module of that name below another": "import build.x as b",
}


@pytest.mark.parametrize("source", DEFINES.values(), ids=DEFINES)
def test_a_name_that_may_be_defined(source: str) -> None:
    assert not names_in(source.encode()).lacks("build")


@pytest.mark.parametrize("source", LACKS.values(), ids=LACKS)
def test_a_name_that_is_not_defined(source: str) -> None:
    assert names_in(source.encode()).lacks("build")


FILES = {
    "model.py": "def build_model(): pass\nclass Net: pass\n",
    "pack/__init__.py": "",
    "pack/net.py": "def build(): pass\n",
    "space/net.py": "def build(): pass\n",
    "wide/__init__.py": "__path__ = ['elsewhere']",
    "broken.py": "def build(:\n",
    "native.cpython-311-x86_64-linux-gnu.so": "",
    ".git/hooks.py": "",
}
FOUND = ["model:Net", "pack.net:build", "space.net:build", "wide.net:build", "native:build"]
INSTALLED = ["json:no_such_name", "torch:no_such_name", "os.path:join"]
MISSING = [
    ("model:build", Reason.FACTORY_NOT_FOUND, "but model.py has no build", "build_model"),
    ("model:x", Reason.FACTORY_NOT_FOUND, "has no x", "It defines build_model, Net."),
    ("modle:Net", Reason.FACTORY_NOT_FOUND, "no module modle in model.code", "Did you mean model?"),
    ("pack.nett:build", Reason.FACTORY_NOT_FOUND, "no module pack.nett", "package.module:callable"),
    ("net:build", Reason.FACTORY_NOT_FOUND, "no module net", "in the folder pack"),
    ("broken:build", Reason.FACTORY_FAILED, "SyntaxError", "Correct the module"),
]


@pytest.fixture(params=["directory", "zip"])
def code_path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    root = tmp_path / "code"
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    if request.param == "directory":
        return root
    with zipfile.ZipFile(tmp_path / "code.zip", "w") as archive:
        for name in FILES:
            archive.write(root / name, name)
    return tmp_path / "code.zip"


def test_what_can_be_imported_is_accepted(code_path: Path) -> None:
    for path in (*FOUND, *INSTALLED):
        require_callable(Named("model.factory", path, "a module"), code_at(code_path))


@pytest.mark.parametrize(("path", "reason", "message", "hint"), MISSING)
def test_what_cannot_is_named(
    code_path: Path, path: str, reason: Reason, message: str, hint: str
) -> None:
    with pytest.raises(ExportFailure) as caught:
        require_callable(Named("model.factory", path, "a module"), code_at(code_path))
    assert caught.value.reason is reason
    assert message in caught.value.message
    assert hint in caught.value.hint


def test_without_code_only_installed_modules_are_found() -> None:
    require_callable(Named("model.factory", "json:loads", "a module"), None)
    with pytest.raises(ExportFailure, match="no module model_of_mine in this Python environment"):
        require_callable(Named("model.factory", "model_of_mine:build", "a module"), None)
