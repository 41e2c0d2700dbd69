"""Which libraries are imported before the workers begin: read from source, nothing runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from modelexport_exporter.isolation.shared_libraries import LibraryImport
from modelexport_exporter.source.imported_libraries import imported_libraries

NUMPY = LibraryImport("numpy")


def found(tmp_path: Path, factory: str = "net:build", **files: str) -> set[str]:
    for name, text in files.items():
        path = tmp_path / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return {entry.module for entry in imported_libraries(factory, tmp_path)}


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import numpy, json, torch\nfrom torch import nn", {"numpy"}),
        ("import numpy as np\nimport not_installed", {"numpy"}),
        ("from numpy import linalg, array", {"numpy"}),
        ("from numpy.linalg import *", {"numpy.linalg"}),
        ("def build():\n    from onnx import helper", {"onnx"}),
        ("class A:\n  def f(self): import onnx\ndef build(): return A()", {"onnx"}),
        ("build = lambda: 1\ndef train():\n    import onnx", set()),
        ("try:\n    import onnx\nexcept ImportError: pass", set()),
        ("import os\nos.environ['A'] = 'b'\nimport numpy", set()),
        ("import sys\nsys.path.append('x')\nimport numpy", set()),
        ("import numpy\ndef (", set()),
        ("import modelexport_exporter\nraise SystemExit", set()),
    ],
)
def test_imports_of_the_factory_and_what_it_uses(
    code: str, expected: set[str], tmp_path: Path
) -> None:
    assert found(tmp_path, net=code) == expected


def test_modules_of_the_code_are_followed(tmp_path: Path) -> None:
    modules = found(
        tmp_path,
        "pkg.net:build",
        **{
            "pkg/__init__": "",
            "pkg/net": "from .layers import Block\nfrom . import tools\n"
            "def build(): return Block()",
            "pkg/layers": "import numpy\nclass Block:\n  def f(self): import onnx\n"
            "class B: import boto3",
            "pkg/tools": "import onnx_ir\nfrom .net import build",
        },
    )
    assert modules == {"numpy", "onnx", "onnx_ir"}


def test_a_module_of_the_code_hides_an_installed_one(tmp_path: Path) -> None:
    assert found(tmp_path, net="import numpy", numpy="import onnx") == {"onnx"}


def test_names_are_kept(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text("from numpy import linalg, array\nimport numpy")
    entries = imported_libraries("net:build", tmp_path)
    assert entries == (LibraryImport("numpy", ("linalg", "array")), NUMPY)


def test_without_code_there_is_nothing_to_read(tmp_path: Path) -> None:
    assert found(tmp_path, "torchvision.models:resnet18") == set()
