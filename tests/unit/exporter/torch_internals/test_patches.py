"""Each patch of torch's own state ends with the block that needs it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest
import torch
import torch.jit.frontend
import torch.nn.functional as F  # noqa: N812
from torch import _tensor
from torch._decomp import decomposition_table
from torch.fx.experimental import _config
from torch.jit import _builtins
from torch.nn.modules import transformer
from torch.onnx._internal.exporter import _flags
from torch.onnx._internal.torchscript_exporter import registration
from torch.onnx._internal.torchscript_exporter.jit_utils import GraphContext

from modelexport_exporter.torch_internals import symbolics
from modelexport_exporter.torch_internals.attention_masks import accept_masks_as_given
from modelexport_exporter.torch_internals.export_flags import set_onnx_export_flags
from modelexport_exporter.torch_internals.function_overrides import show_inner_calls
from modelexport_exporter.torch_internals.module_conversions import conversions_without_effect
from modelexport_exporter.torch_internals.one_dnn import without_one_dnn
from modelexport_exporter.torch_internals.script_annotations import readable_signatures
from modelexport_exporter.torch_internals.symbolic_sizes import (
    sizes_written_as_text,
    treat_0_and_1_as_any_size,
    treat_equal_sizes_as_different,
)

Look = Callable[[], object]


def custom(name: str) -> object:
    """Return the group of a name, and the user's functions in it."""
    group = registration.registry.get_function_group(name)
    return None if group is None else (group, dict(group._functions._overrides))


def builtins() -> dict[int, str]:
    return dict(_builtins._get_builtin_table())  # type: ignore[no-untyped-call]


PATCHES: dict[str, tuple[Callable[[], AbstractContextManager[Any]], Look]] = {
    "masks": (accept_masks_as_given, lambda: transformer._detect_is_causal_mask),
    "in_onnx_export": (lambda: set_onnx_export_flags(dynamic=True), torch.onnx.is_in_onnx_export),
    "export flag": (
        lambda: set_onnx_export_flags(dynamic=False),
        lambda: _flags._is_onnx_exporting,
    ),
    "LSTM": (
        lambda: set_onnx_export_flags(dynamic=True),
        lambda: decomposition_table.get(torch.ops.aten.lstm.input),
    ),
    "GRU": (
        lambda: set_onnx_export_flags(dynamic=True),
        lambda: decomposition_table.get(torch.ops.aten.gru.input),
    ),
    "builtins": (show_inner_calls, builtins),
    "functional": (show_inner_calls, lambda: vars(F)["has_torch_function_unary"]),
    "torch._tensor": (show_inner_calls, lambda: vars(_tensor)["has_torch_function_unary"]),
    "conversions": (conversions_without_effect, lambda: vars(torch.nn.Module)["_apply"]),
    "oneDNN": (without_one_dnn, lambda: torch.backends.mkldnn.enabled),
    "annotations": (lambda: readable_signatures({}), lambda: torch.jit.frontend.build_def),
    "sizes 0 and 1": (treat_0_and_1_as_any_size, lambda: _config.backed_size_oblivious),
    "equal sizes": (treat_equal_sizes_as_different, lambda: _config.use_duck_shape),
    "sizes as text": (lambda: sizes_written_as_text(bool), lambda: torch.SymInt.__repr__),
    "g.op": (lambda: symbolics.replace_graph_methods(print, print), lambda: GraphContext.op),
    "g.onnxscript_op": (
        lambda: symbolics.replace_graph_methods(print, print),
        lambda: GraphContext.onnxscript_op,
    ),
    "symbolic of torch": (
        lambda: symbolics.register_symbolics({"aten::relu": print}, 17),
        lambda: custom("aten::relu"),
    ),
    "symbolic of nobody": (
        lambda: symbolics.register_symbolics({"aten::no_such": print}, 17),
        lambda: custom("aten::no_such"),
    ),
    "groups": (
        lambda: symbolics.wrap_function_groups(lambda _, group: (group,)),
        lambda: registration.registry.get_function_group("aten::relu"),
    ),
}


@pytest.mark.parametrize("name", PATCHES)
def test_patch_ends_with_its_block(name: str) -> None:
    symbolics.import_symbolics()
    patch, look = PATCHES[name]
    before = look()
    with patch():
        assert look() != before
    assert look() == before
    with pytest.raises(ZeroDivisionError), patch():
        raise ZeroDivisionError
    assert look() == before


def test_a_users_symbolic_comes_back_after_ours() -> None:
    with symbolics.register_symbolics({"aten::relu": print}, 17):
        with symbolics.register_symbolics({"aten::relu": repr}, 17):
            assert symbolics.custom_symbolics()["aten::relu", 17] is repr
        assert symbolics.custom_symbolics()["aten::relu", 17] is print
    assert ("aten::relu", 17) not in symbolics.custom_symbolics()
