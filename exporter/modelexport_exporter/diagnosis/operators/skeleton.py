"""The text of a plugin for an operator, ready to fill in.

It can be imported as it is. Of its three ways the first is in force; what is not filled in raises
NotImplementedError with the name of the function.
"""

from __future__ import annotations

import keyword
import re

import torch

from modelexport_exporter.diagnosis.operators.onnx_names import find_standard
from modelexport_exporter.torch_internals.operators import (
    OpOverload,
    find_overload,
    has_fake_kernel,
    schema_of,
)

_NO_IDENTIFIER = re.compile(r"\W+")
_TORCH_NAMESPACES = {"aten", "prims", "prim", "torchvision", "quantized"}


def skeleton_name(name: str) -> str:
    """Return the name of the plugin's file: `onnx_erfinv.py` for `aten::erfinv.default`."""
    return f"onnx_{_identifier(name)}.py"


def skeleton(name: str) -> str:
    """Return a plugin's text for an operator such as `aten::erfinv.default`."""
    overload = find_overload(name)
    if overload is None:
        return _header(name, "(unknown here)") + _symbolic(name, ["x"])
    arguments = [_argument(entry.name) for entry in schema_of(overload).arguments]
    parts = [_header(name, str(schema_of(overload)))]
    if not _is_torchs(name) and not has_fake_kernel(overload):
        parts.append(_fake(overload))
    return "".join([*parts, _translation(overload, name, arguments), _symbolic(name, arguments)])


def _is_torchs(name: str) -> bool:
    return name.partition("::")[0] in _TORCH_NAMESPACES


def _identifier(name: str) -> str:
    operator = name.partition("::")[2].removesuffix(".default")
    return _NO_IDENTIFIER.sub("_", operator).strip("_")


def _argument(name: str) -> str:
    return f"{name}_" if keyword.iskeyword(name) else name


def _header(name: str, schema: str) -> str:
    file = skeleton_name(name).removesuffix(".py")
    standard = find_standard(name)
    opset = min(max(standard.since if standard else 0, 18), 25)
    return f'''\
"""How {name} is written to ONNX.

Schema: {schema}

Put this file into model.code and name it in the manifest: `export: {{plugins: [{file}]}}`.
Fill in one of the functions below and delete the others; verification compares the result with
PyTorch.
"""

import torch
from onnxscript import opset{opset} as op
'''


def _fake(overload: OpOverload) -> str:
    tensors = [
        _argument(entry.name)
        for entry in schema_of(overload).arguments
        if isinstance(entry.type, torch.TensorType)
    ]
    like = tensors[0] if tensors else "torch.empty(())"
    schema_name = schema_of(overload).name
    return f'''

# torch.export runs the model without data: it must know the result's shape and dtype.
@torch.library.register_fake("{schema_name}")
def fake_{_identifier(schema_name)}({", ".join(_signature(overload))}):
    return torch.empty_like({like})
'''


def _translation(overload: OpOverload, name: str, arguments: list[str]) -> str:
    short = _identifier(name)
    signature = ", ".join(_signature(overload))
    standard = find_standard(name)
    body = (
        f"return op.{standard.name}({arguments[0]})  # see the operator's page in ONNX"
        if standard is not None
        else f'raise NotImplementedError("translate_{short}: compute it with op.Add, op.Mul, …")'
    )
    return f"""

# 1. For torch.export's route: the operator by ONNX operators (op.Add, op.Where, …). A node that
#    only your runtime knows: onnxscript.values.Opset("my.domain", 1).MyOperator(…).
def translate_{short}({signature}):
    {body}


custom_translation_table = {{torch.ops.{_python_path(overload)}: translate_{short}}}


# 2. For torch.export's route, without ONNX: the operator by smaller operators of torch.
def decompose_{short}({signature}):
    raise NotImplementedError("decompose_{short}: compute it with torch.exp, torch.where, …")


# To use it: decompositions = {{torch.ops.{_python_path(overload)}: decompose_{short}}}
"""


def _signature(overload: OpOverload) -> list[str]:
    parts: list[str] = []
    for entry in schema_of(overload).arguments:
        if entry.kwarg_only and "*" not in parts:
            parts.append("*")
        name = _argument(entry.name)
        parts.append(f"{name}={entry.default_value!r}" if entry.has_default_value() else name)
    return parts


def _python_path(overload: OpOverload) -> str:
    namespace, _, operator = schema_of(overload).name.partition("::")
    return f"{namespace}.{operator}.{schema_of(overload).overload_name or 'default'}"


def _symbolic(name: str, arguments: list[str]) -> str:
    short = _identifier(name)
    base = f"{name.partition('::')[0]}::{name.partition('::')[2].partition('.')[0]}"
    return f'''

# 3. For the TorchScript route: the same with g.op("Add", a, b); attributes end in _i, _f, _s, _t.
def symbolic_{short}(g, {", ".join(arguments)}):
    raise NotImplementedError("symbolic_{short}: return g.op(…)")


# To use it: torch.onnx.register_custom_op_symbolic("{base}", symbolic_{short}, 9)
'''
