"""What a model computes from sizes alone, and decides without any noise.

Bucketed relative positions, `(log(distance / 8) / log(16) * 8).long()`, are the same in each run at
a size, and stand at the edge of a bucket at some distances. Rounding at random would move them over
it, so that the bias of these positions, and with it all of an output, seemed to depend on rounding.
Such values are perturbed like others, since a file's exp differs from eager's by a unit; what is
decided on them (integers, conditions, steps) is decided on the values that eager has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch.utils.weak import WeakTensorKeyDictionary

from modelexport_exporter.torch_internals.aten_mode import aliased_arguments, op_name
from modelexport_exporter.torch_internals.pytree import tensors_in, tree_map
from modelexport_exporter.torch_internals.tensors_and_buffers import viewed_tensor

LIKE = ("zeros_like", "ones_like", "full_like", "empty_like", "lift_fresh")
NEW = "new_"
RANDOM = ("rand", "normal", "uniform", "bernoulli", "multinomial", "dropout", "exponential")
STEPS = frozenset({"floor", "ceil", "round", "trunc", "sign", "floor_divide", "heaviside"})
"""Ops that return floats and decide; div has a rounding mode for it."""


class SizeArithmetic:
    """Follows values that depend on no input and no weight, with what eager has for them."""

    def __init__(self) -> None:
        self._eager: Any = WeakTensorKeyDictionary()
        """Eager's tensor, by the perturbed one."""

    def run(
        self,
        func: Any,  # noqa: ANN401 - an OpOverload
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        perturbed: Callable[[], Any],
    ) -> Any:  # noqa: ANN401
        """Return what `perturbed` returns of this op, or eager's result where it decides."""
        name = op_name(func)
        if name.startswith((*LIKE, NEW)):
            return self._note_own(func(*args, **kwargs))
        if any(part in name for part in RANDOM) or not self._known(args, kwargs):
            self._forget(func, args)
            return perturbed()
        own_args, own_kwargs = tree_map(self._of, (args, dict(kwargs)))
        made = not tensors_in((args, kwargs))
        writes_own = any(self._of(leaf) is leaf for leaf in _aliased(func, args))
        eager = func(*own_args, **own_kwargs)
        if made or writes_own or _decides(name, kwargs, eager):
            return self._note_own(eager)
        result = perturbed()
        for one, other in zip(tensors_in(result), tensors_in(eager), strict=True):
            self._eager[one] = other
        return result

    def _known(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool:
        return all(tensor in self._eager for tensor in tensors_in((args, kwargs)))

    def _of(self, leaf: Any) -> Any:  # noqa: ANN401
        return self._eager[leaf] if isinstance(leaf, torch.Tensor) else leaf

    def _note_own(self, result: Any) -> Any:  # noqa: ANN401
        for tensor in tensors_in(result):
            self._eager[tensor] = tensor
        return result

    def _forget(self, func: Any, args: tuple[Any, ...]) -> None:  # noqa: ANN401
        """Forget what the op may write other values into."""
        for leaf in _aliased(func, args):
            self._eager.pop(leaf, None)
            base = viewed_tensor(leaf)
            if base is not None:
                self._eager.pop(base, None)


def _decides(name: str, kwargs: Mapping[str, Any], result: Any) -> bool:  # noqa: ANN401
    if name in STEPS or kwargs.get("rounding_mode") is not None:
        return True
    return not any(tensor.is_floating_point() for tensor in tensors_in(result))


def _aliased(func: Any, args: tuple[Any, ...]) -> list[torch.Tensor]:  # noqa: ANN401
    places = aliased_arguments(func)
    given = (value for place, value in enumerate(args) if place in places)
    return [value for value in given if isinstance(value, torch.Tensor)]
