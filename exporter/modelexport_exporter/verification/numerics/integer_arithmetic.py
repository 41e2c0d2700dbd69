"""Which integer inputs lead to integers only: such results are exact, however large they are.

The sine of 2^40 says nothing of a model whose ids are small, so that large integers are not tried
where floating-point numbers depend on them. Seconds that become minutes are exact at any size.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

import torch
from torch.utils.weak import WeakTensorKeyDictionary

from modelexport_exporter.torch_internals.aten_mode import AtenMode, op_name
from modelexport_exporter.torch_internals.pytree import tensors_in
from modelexport_exporter.torch_internals.tensors_and_buffers import viewed_tensor

READING = frozenset({"_local_scalar_dense", "item", "is_nonzero", "equal"})
"""ATen ops that return a Python value: what Python computes with it is not seen."""


class Provenance(AtenMode):
    """Follows inputs through ops, until a float or a Python number depends on them."""

    def __init__(self, inputs: Mapping[str, torch.Tensor]) -> None:
        super().__init__()
        self._known: Any = WeakTensorKeyDictionary()
        for name, tensor in inputs.items():
            self._known[tensor] = frozenset({name})
        self.inexact: set[str] = set()

    def of(self, tensor: torch.Tensor) -> frozenset[str]:
        """Return the inputs that a tensor depends on."""
        found: frozenset[str] = self._known.get(tensor, frozenset())
        return found

    def on_op(self, func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:  # noqa: ANN401
        """Run the op, and note which inputs its results depend on."""
        found: frozenset[str] = frozenset().union(
            *(self._known.get(tensor, frozenset()) for tensor in tensors_in((args, kwargs)))
        )
        result = func(*args, **kwargs)
        if op_name(func) in READING:
            self.inexact |= found
        for tensor in tensors_in(result):
            if tensor.is_floating_point() or tensor.is_complex():
                self.inexact |= found
            self._note(tensor, found)
        return result

    def _note(self, tensor: torch.Tensor, found: frozenset[str]) -> None:
        self._known[tensor] = found
        base = viewed_tensor(tensor)  # an op that writes into a view changes both
        if base is not None:
            self._known[base] = found | self._known.get(base, frozenset())


def integers_only(
    inputs: Mapping[str, torch.Tensor], call: Callable[[], Collection[torch.Tensor]]
) -> frozenset[str]:
    """Return the inputs of which `call` makes no floating-point or Python number.

    `inputs`: tensors that `call` reads, by name; those of floats are never among the result.
    """
    with torch.no_grad(), Provenance(inputs) as mode:
        call()
    floats = {name for name, tensor in inputs.items() if tensor.is_floating_point()}
    exact: frozenset[str] = frozenset(inputs) - mode.inexact - floats
    return exact
