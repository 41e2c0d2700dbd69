"""Replace calls while a model runs: under torch.export, and under the tracer of TorchScript.

Both record what is called inside these blocks. The functions of the model are not touched: a
TorchFunctionMode sees each call of torch before it is recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor
from torch.onnx._internal.torchscript_exporter.registration import registry
from torch.overrides import TorchFunctionMode

from modelexport_exporter.decompositions import pools_at_capture  # noqa: F401 (adds to CALLS)
from modelexport_exporter.decompositions.calls_at_capture import CALLS
from modelexport_exporter.decompositions.catalogue import DECOMPOSITIONS, Why, enabled

_ALIASES = {
    "special_psi": "digamma",
    "special_gammaln": "lgamma",
    "__mod__": "remainder",
    "arctan2": "atan2",
    "matrix_exp": "linalg_matrix_exp",
}
_OVERRIDE_CHECKS = (
    "has_torch_function",
    "has_torch_function_unary",
    "has_torch_function_variadic",
)


@contextmanager
def capturing_calls(disabled: Collection[str]) -> Iterator[None]:
    """Let torch.export capture calls that it would refuse or tie to the example's sizes."""
    table = {
        function: replacement
        for function, (name, replacement) in CALLS.items()
        if enabled(name, disabled)
    }
    with _Replacing(table.get):
        yield


@contextmanager
def rewriting_calls(disabled: Collection[str], opset: int) -> Iterator[None]:
    """Let torch.jit.trace record decompositions where TorchScript's exporter has no symbolic."""

    def find(function: Any) -> Callable[..., Any] | None:  # noqa: ANN401
        name = getattr(function, "__name__", "")
        operator = _operator(name)
        if operator not in _operators() or not enabled(operator, disabled):
            return None
        return _Traced(name, operator, opset)

    with _seeing_inner_calls(), _Replacing(find):
        yield


@cache
def _operators() -> frozenset[str]:
    return frozenset(entry.operator for entry in DECOMPOSITIONS.values())


def _operator(name: str) -> str:
    """Return the ATen operator of a function's name: `special_erfinv` and `erfinv_` are erfinv."""
    name = _ALIASES.get(name, name if name.startswith("__") else name.removesuffix("_"))
    short = f"aten::{name.removeprefix('special_')}"
    return short if short in _operators() else f"aten::{name}"


class _Replacing(TorchFunctionMode):
    """Calls what `find` returns in a function's place; NotImplemented leaves it to the function."""

    def __init__(self, find: Callable[[Any], Callable[..., Any] | None]) -> None:
        super().__init__()
        self._find = find

    def __torch_function__(
        self,
        func: Any,  # noqa: ANN401
        types: Any,  # noqa: ANN401
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401
        replacement = self._find(func)
        if replacement is not None:
            result = replacement(*args, **(kwargs or {}))
            if result is not NotImplemented:
                return result
        return func(*args, **(kwargs or {}))


class _Traced:
    """A call that is recorded as the operator's decomposition."""

    def __init__(self, name: str, operator: str, opset: int) -> None:
        self._name = name
        self._operator = operator
        self._opset = opset

    def __call__(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        try:
            overload = torch._C._jit_resolve_packet(self._operator, *args, **kwargs)  # noqa: SLF001
        except RuntimeError:
            return NotImplemented
        suffix = "" if overload == "default" else f".{overload}"
        decomposition = DECOMPOSITIONS.get(self._operator + suffix)
        if decomposition is None or not decomposition.applies(*args, **kwargs):
            return NotImplemented
        known = registry.is_registered_op(self._operator, self._opset)
        if known and decomposition.why is Why.UNSUPPORTED:
            return NotImplemented
        result = decomposition.function(*args, **kwargs)
        in_place = self._name.endswith("_") and not self._name.endswith("__")
        return args[0].copy_(result) if in_place and isinstance(args[0], Tensor) else result


@contextmanager
def _seeing_inner_calls() -> Iterator[None]:
    """Make torch.nn.functional's Python functions run, so that what they call is seen."""
    functional = torch.nn.functional
    with (
        patch.object(functional, _OVERRIDE_CHECKS[0], _never),
        patch.object(functional, _OVERRIDE_CHECKS[1], _never),
        patch.object(functional, _OVERRIDE_CHECKS[2], _never),
    ):
        yield


def _never(*_: object) -> bool:
    return False
