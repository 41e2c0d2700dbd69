"""Helpers of torch.onnx.symbolic_helper that behaved differently, or are gone.

Symbolic functions of 2018 got Python numbers where today's get Values of the graph; the helpers
they call here take both.
"""

from __future__ import annotations

from typing import Any

import torch

from modelexport_exporter.plugins.graph_values import constant_of, number_of
from modelexport_exporter.torch_internals.symbolics import as_scalar_of
from modelexport_exporter.torch_internals.torchscript_exporter import symbolic_helper


def _scalar(x: object) -> object:
    """Convert a constant scalar into a Python number; None where it is not one."""
    found = number_of(constant_of(x))
    return found if isinstance(found, bool | int | float) else None


def _if_scalar_type_as(*arguments: Any) -> Any:  # noqa: ANN401 - called as (self, tensor) or (g, self, tensor)
    """Give a scalar the element type of a tensor."""
    scalar, tensor = arguments[-2:]
    if isinstance(scalar, torch.Value):
        return scalar
    as_tensor = scalar if isinstance(scalar, torch.Tensor) else torch.tensor(scalar)
    return as_scalar_of(as_tensor, tensor)  # type: ignore[no-untyped-call]


def _broadcast_if_scalar(_x: object) -> dict[str, int]:
    """Return no attributes: since opset 7 every operator broadcasts."""
    return {}


def _set_opset_version(_version: int) -> None:
    """Do nothing: the manifest sets the opset."""


HELPERS: dict[str, object] = {
    "_scalar": _scalar,
    "_if_scalar_type_as": _if_scalar_type_as,
    "_broadcast_if_scalar": _broadcast_if_scalar,
    "_set_opset_version": _set_opset_version,
    "assert_training_mode": symbolic_helper.check_training_mode,
    "_default_onnx_opset_version": 9,
    "_onnx_main_opset": 20,
    "_onnx_stable_opsets": list(range(7, 20)),
    "_constant_folding_opset_versions": list(range(9, 21)),
}
