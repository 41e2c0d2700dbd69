"""Operators of the runtime: functions, operators in Python and C++, and libraries of them."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from exporter.plugins.plugin_exports import CODE, TWO, export, imports
from modelexport_api.reasons import Reason
from modelexport_exporter.core.errors import ExportFailure

pytestmark = pytest.mark.usefixtures("forget_plugins")


def test_operator_that_the_runtime_does_not_know_is_named(tmp_path: Path) -> None:
    with pytest.raises(ExportFailure) as failed:
        export("FooModel", tmp_path, "foo_symbolic", inputs=TWO)
    assert failed.value.reason is Reason.RUNTIME_FAILED
    assert "custom_domain::Foo" in failed.value.message
    assert "onnx_functions" in failed.value.hint
    assert "runtimeLibraries" in failed.value.hint


def test_function_proto_makes_operator_known(tmp_path: Path) -> None:
    converted = export("FooModel", tmp_path, "foo_symbolic", "foo_function", inputs=TWO)
    assert converted.op_counts["custom_domain::Foo"] == 1
    assert imports(converted)["custom_domain"] == 2


def test_plugin_registers_a_python_operator(tmp_path: Path) -> None:
    converted = export("FooModel", tmp_path, "foo_runtime", inputs=TWO)
    assert converted.op_counts["ai.onnx.contrib::FooInPython"] == 1


def test_library_of_runtime_operators_is_loaded(tmp_path: Path) -> None:
    import onnxruntime_extensions

    library = Path(onnxruntime_extensions.get_library_path())
    converted = export("Negative", tmp_path, "neg_pos", libraries=(library,))
    assert converted.op_counts["ai.onnx.contrib::NegPos"] == 1


def test_library_that_cannot_be_loaded_is_named(tmp_path: Path) -> None:
    library = tmp_path / "libfoo.so"
    library.write_bytes(b"not a library")
    with pytest.raises(ExportFailure) as failed:
        export("Negative", tmp_path, "neg_pos", libraries=(library,))
    assert failed.value.reason is Reason.RUNTIME_FAILED
    assert "libfoo.so" in failed.value.message


CPP = """
#include <ATen/ATen.h>
#include <torch/library.h>
at::Tensor foo_forward(const at::Tensor& a, const at::Tensor& b, double attr1, int64_t attr2) {
  return a * attr1 + b * attr2;
}
TORCH_LIBRARY(custom_ops, m) {
  m.def("foo_forward(Tensor input1, Tensor input2, float attr1, int attr2) -> Tensor");
  m.impl("foo_forward", c10::DispatchKey::CompositeExplicitAutograd, &foo_forward);
}
"""


@pytest.mark.nightly
@pytest.mark.skipif(shutil.which("g++") is None, reason="needs a C++ compiler (apt install g++)")
def test_operator_in_cpp(tmp_path: Path) -> None:
    """The schema and the operator come from C++, the rest of the plugin as documented."""
    code = tmp_path / "code"
    code.mkdir()
    for path in CODE.glob("*.py"):
        (code / path.name).write_text(path.read_text())
    (code / "foo.cpp").write_text(CPP)
    (code / "foo_op.py").write_text(
        "from pathlib import Path\nimport torch\n"
        'torch.ops.load_library(Path(__file__).with_name("libfoo.so"))\n'
    )
    root = Path(torch.__file__).parent
    places = [f"-I{root / 'include'}", f"-I{root / 'include/torch/csrc/api/include'}"]
    libraries = [f"-L{root / 'lib'}", "-ltorch", "-ltorch_cpu", "-lc10"]
    options = ["-O0", "-shared", "-fPIC", "-std=c++20", f"-Wl,-rpath,{root / 'lib'}"]
    command = ["g++", *options, *places, "foo.cpp", "-o", "libfoo.so", *libraries]
    subprocess.run(command, cwd=code, check=True)
    script = (
        "import sys; sys.path[:0] = {paths!r}; from pathlib import Path; "
        "import plugin_exports as t; t.CODE = Path({code!r}); "
        "t.export('FooModel', Path({out!r}), 'foo_symbolic', 'foo_function', inputs=t.TWO)"
    )
    paths = [str(Path(__file__).parent), str(Path(__file__).parents[2])]
    # A process of its own: the operator is registered in this one already.
    subprocess.run(
        [sys.executable, "-c", script.format(paths=paths, code=str(code), out=str(tmp_path))],
        check=True,
    )
