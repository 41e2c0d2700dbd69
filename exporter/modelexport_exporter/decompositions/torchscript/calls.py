"""What the tracer of TorchScript records in place of a call that its exporter cannot translate.

In this order: the library's decomposition; a rewrite of the operator; torch's own definition,
where the exporter has no symbolic function at the requested opset. Their own calls are
rewritten too.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch import Tensor

from modelexport_exporter.decompositions.library import DECOMPOSITIONS, provided
from modelexport_exporter.decompositions.registry import enabled
from modelexport_exporter.decompositions.torchscript.missing_symbolics import (
    computes_tensors,
    has_symbolic,
    own_definition,
)
from modelexport_exporter.decompositions.torchscript.negative_indices import from_the_start
from modelexport_exporter.decompositions.torchscript.rewrites import REWRITES
from modelexport_exporter.torch_internals.call_mode import CallMode, with_names
from modelexport_exporter.torch_internals.operators import (
    OpOverload,
    OpOverloadPacket,
    resolve_overload,
    schema_of,
)

_ALIASES = {
    "special_psi": "digamma",
    "special_gammaln": "lgamma",
    "__mod__": "remainder",
    "__eq__": "eq",
    "__ne__": "ne",
    "arctan2": "atan2",
    "matrix_exp": "linalg_matrix_exp",
}
_VECTORS = {"aten::linalg_svd", "aten::svd", "aten::linalg_eigh"}
"""Defined by operators that the library decomposes for their values alone, without vectors."""
_PROPERTIES = {"mT": "mT", "mH": "mH"}
"""Views that are attributes of a tensor."""


@dataclass(frozen=True)
class _Call:
    """A function of torch, `special_erfinv` or `erfinv_`, and the operator that it is, erfinv."""

    name: str
    operator: str
    in_place: bool


_PROVIDED = provided()


def _describe_call(function: object) -> _Call:
    if isinstance(function, OpOverload):
        name = schema_of(function).name.removeprefix("aten::")
    elif isinstance(function, OpOverloadPacket):
        name = str(function).removeprefix("aten.")
    else:
        name = getattr(function, "__name__", "")
        if name == "__get__":
            name = _PROPERTIES.get(getattr(function.__self__, "__name__", ""), "")  # type: ignore[attr-defined]
    return _describe_name(name)


@cache
def _describe_name(name: str) -> _Call:
    dunder = name.endswith("__")
    in_place = name.startswith("__i") if dunder else name.endswith("_")
    operator = _ALIASES.get(name, name if dunder else name.removesuffix("_"))
    short = f"aten::{operator.removeprefix('special_')}"
    return _Call(name, short if short in _PROVIDED else f"aten::{operator}", in_place)


class TracedCalls(CallMode):
    """Sees each call of torch and records it, or what replaces it."""

    def __init__(self, disabled: Collection[str], opset: int) -> None:
        super().__init__()
        self._disabled = disabled
        self._opset = opset
        self._active: frozenset[str] = frozenset()

    def on_call(self, func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:  # noqa: ANN401
        """Record the call, or what replaces it."""
        call = _describe_call(func)
        if call.name == "__getitem__":
            return func(*self._without_negative_indices(args), **kwargs)
        if call.operator in self._active or not enabled(call.operator, self._disabled):
            return func(*args, **kwargs)
        for replace in (self._by_the_library, self._by_a_rewrite, self._by_torch):
            with self._seeing_calls_but(call.operator):
                result = replace(call, args, dict(kwargs))
            if result is not NotImplemented:
                copies = call.in_place and isinstance(args[0], Tensor)
                if copies:
                    return args[0].copy_(result)
                return with_names(call.operator.removeprefix("aten::"), result)
        return func(*args, **kwargs)

    @contextmanager
    def _seeing_calls_but(self, operator: str) -> Iterator[None]:
        """Rewrite what a replacement calls, except the operator itself."""
        before = self._active
        self._active = before | {operator}
        try:
            with self:
                yield
        finally:
            self._active = before

    def _without_negative_indices(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        if not enabled("aten::index", self._disabled) or not isinstance(args[0], Tensor):
            return args
        index = from_the_start(*args[:2])
        return args if index is NotImplemented else (args[0], index)

    def _by_the_library(self, call: _Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:  # noqa: ANN401
        if call.operator not in _PROVIDED:
            return NotImplemented
        overload = resolve_overload(call.operator, args, kwargs)
        if overload is None:
            return NotImplemented
        decomposition = DECOMPOSITIONS.get(_full_name(overload))
        if decomposition is None or not decomposition.applies(*args, **kwargs):
            return NotImplemented
        known = has_symbolic(call.operator, self._opset)
        if known and not decomposition.defect:
            return NotImplemented
        return decomposition.function(*args, **kwargs)

    def _by_a_rewrite(self, call: _Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:  # noqa: ANN401
        rewrite = REWRITES.get(call.operator)
        if rewrite is None or self._opset >= rewrite.before or "out" in kwargs:
            return NotImplemented
        return rewrite.function(*args, **kwargs)

    def _by_torch(self, call: _Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:  # noqa: ANN401
        # torch.onnx runs the model before it traces: that run needs no definitions.
        traced = torch.jit.is_tracing()  # type: ignore[attr-defined, no-untyped-call]
        if not traced or has_symbolic(call.operator, self._opset) or "out" in kwargs:
            return NotImplemented
        if call.operator in _VECTORS:
            return NotImplemented
        overload = resolve_overload(call.operator, args, kwargs)
        if overload is None and len(args) > 1:
            args = _as_list(args)
            overload = resolve_overload(call.operator, args, kwargs)
        if overload is None or not computes_tensors(overload):
            return NotImplemented
        definition = own_definition(overload, args, kwargs, self._is_known(call.operator))
        return NotImplemented if definition is None else definition()

    def _is_known(self, operator: str) -> Callable[[str], bool]:
        """Return a test of the operators to which the definition of this one may lead."""

        def known(name: str) -> bool:
            name = name if name.endswith("__") else name.removesuffix("_")
            if name == operator:
                return False
            rewrite = REWRITES.get(name)
            early = rewrite is not None and self._opset < rewrite.before
            provided = (early or name in _PROVIDED) and enabled(name, self._disabled)
            return provided or has_symbolic(name, self._opset)

        return known


def _as_list(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return `x.tile(2, 3)`'s arguments as those of `x.tile((2, 3))`."""
    return args if any(isinstance(value, (list, tuple)) for value in args) else (args[0], args[1:])


def _full_name(overload: OpOverload) -> str:
    schema = schema_of(overload)
    return schema.name + (f".{schema.overload_name}" if schema.overload_name else "")
