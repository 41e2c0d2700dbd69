"""Only torch_internals uses private names of torch and its relatives."""

from __future__ import annotations

import pytest

import private_names
from private_names import ALLOWED, EXPORTER, find_private_names


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("import torch._dynamo", "torch._dynamo"),
        ("from torch.utils import _pytree", "torch.utils._pytree"),
        ("from torch._ops import OpOverload", "torch._ops.OpOverload"),
        ("def f():\n    from onnxscript._internal import x", "onnxscript._internal.x"),
        ("import torch\ntorch._C.Value", "torch._C.Value"),
        ("import torch.nn as nn\nnn._reduction", "torch.nn._reduction"),
        ("from torch import nn\nnn.Module._parameters", "torch.nn.Module._parameters"),
        ("import onnxruntime as ort\nort.capi._ld", "onnxruntime.capi._ld"),
        ("helper = torch.onnx\nhelper._flags", "helper._flags"),
        ("def f(op):\n    return op._schema", "op._schema"),
        ("def f(op):\n    return op()._schema", "._schema"),
        ("self.operator._schema", "self.operator._schema"),
        ("getattr(module, '_in_spec', None)", "'_in_spec'"),
        ("patch.object(module, '_detect')", "'_detect'"),
        ("flags(_enabled=False)", "_enabled="),
        ("names = ('torch.export._trace',)", "'torch.export._trace'"),
        ("f'torch.onnx._internal.opset{n}'", "'torch.onnx._internal.opset'"),
    ],
)  # fmt: skip
def test_finds(source: str, name: str) -> None:
    assert name in [use.name for use in find_private_names(source)]


@pytest.mark.parametrize(
    "source",
    [
        "import torch\ntorch.ops.aten._softmax.default",
        "import torch\n_aten = torch.ops.aten\n_aten._to_copy",
        "import torch\ntorch.Tensor.__torch_function__",
        "class A:\n    def f(self):\n        return self._x, cls._y",
        "import sys, os\nsys._getframe(1), os._exit(0)",
        "hasattr(kind, '_fields')",
        "from modelexport_exporter.core import _x",
        "'Use torch._check in your code.'",
        "_, rest = torch.max(x)",
    ],
)
def test_leaves_alone(source: str) -> None:
    assert find_private_names(source) == []


def test_reports_the_line() -> None:
    assert find_private_names("import torch\n\n\ntorch._check(x)")[0].line == 4


def test_no_other_room_uses_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert private_names.main() == 0, capsys.readouterr().out


def test_torch_internals_uses_some() -> None:
    assert any(find_private_names(path.read_text()) for path in ALLOWED.glob("*.py"))
    assert ALLOWED.parent == EXPORTER
