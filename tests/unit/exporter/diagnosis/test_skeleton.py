"""A skeleton is a plugin that can be imported, and filled in by one line."""

from __future__ import annotations

import types
from collections.abc import Iterator

import pytest
import torch

from modelexport_exporter.diagnosis.operators.skeleton import skeleton, skeleton_name


@pytest.fixture
def custom_operator() -> Iterator[str]:
    library = torch.library.Library("skeletontest", "FRAGMENT")  # type: ignore[no-untyped-call]
    library.define("fused(Tensor x, int lambda, *, float eps=1e-5) -> Tensor")  # type: ignore[no-untyped-call]
    yield "skeletontest::fused.default"
    library._destroy()  # type: ignore[no-untyped-call]


def imported(text: str) -> types.ModuleType:
    module = types.ModuleType("plugin")
    exec(compile(text, "plugin.py", "exec"), vars(module))
    return module


@pytest.mark.parametrize(
    "name",
    ["aten::special_i0e.default", "aten::median.dim", "aten::elu.default", "aten::histc.default"],
)
def test_it_can_be_imported(name: str) -> None:
    module = imported(skeleton(name))
    (target,) = module.custom_translation_table
    assert target.name() == name.removesuffix(".default")


def test_arguments_have_their_names_and_defaults() -> None:
    text = skeleton("aten::elu.default")
    assert "def translate_elu(self, alpha=1, scale=1, input_scale=1):" in text
    assert "def symbolic_elu(g, self, alpha, scale, input_scale):" in text


def test_what_onnx_has_is_filled_in() -> None:
    assert "return op.Det(A)" in skeleton("aten::linalg_det.default")


def test_a_custom_operator_gets_a_fake_kernel(custom_operator: str) -> None:
    text = skeleton(custom_operator)
    assert '@torch.library.register_fake("skeletontest::fused")' in text
    assert "def translate_fused(x, lambda_, *, eps=1e-05):" in text
    imported(text)
    with torch._subclasses.FakeTensorMode():
        x = torch.empty(2, 3)
        made = torch.ops.skeletontest.fused(x, 1)
    assert made.shape == (2, 3)


def test_an_unknown_operator_gets_a_symbolic() -> None:
    assert "symbolic_thing(g, x)" in skeleton("nowhere::thing.default")


def test_the_file_is_a_module_of_python() -> None:
    assert skeleton_name("aten::median.dim") == "onnx_median_dim.py"
    assert skeleton_name("prim::PythonOp.MyFunction") == "onnx_PythonOp_MyFunction.py"
