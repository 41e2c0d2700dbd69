"""Runs forward on a guess, and describes what refused it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from inspect import Parameter
from typing import Any

import torch

from modelexport_api.spec import DType, InputKind
from modelexport_exporter.call.call import Arguments
from modelexport_exporter.call.nesting import build, nest
from modelexport_exporter.call.tensors import TORCH_DTYPES
from modelexport_exporter.core.out_of_memory import reraise_out_of_memory
from modelexport_exporter.inference.guess import Guess, Guesses
from modelexport_exporter.inference.refusal import Refusal
from modelexport_exporter.sampling.masks import KEPT
from modelexport_exporter.torch_internals.aten_mode import AtenMode, aliased_arguments, op_name
from modelexport_exporter.torch_internals.call_mode import CallMode
from modelexport_exporter.torch_internals.pytree import tensors_in

_TEXT = 600
_NUMBERS: dict[InputKind, Any] = {InputKind.INT: 2, InputKind.FLOAT: 0.5, InputKind.BOOL: True}


@dataclass(frozen=True)
class Trial:
    """Calls of one module."""

    module: torch.nn.Module
    place: Callable[[Mapping[str, Any]], Arguments]
    """Returns forward's `(args, kwargs)` for values by the names of inputs."""

    def refused(
        self, guesses: Guesses, values: Mapping[str, float] | None = None
    ) -> Refusal | None:
        """Return what refuses a guess; None if forward accepts it.

        `values`: the number that all elements of an input are.
        """
        watch = _Watch(self.module)
        error = self.error(guesses, values, watch)
        if error is None:
            return None
        text = " ".join(f"{type(error).__name__}: {error}".split())[:_TEXT]
        return watch.refusal(text)

    def error(
        self,
        guesses: Guesses,
        values: Mapping[str, float] | None = None,
        watch: AbstractContextManager[object] = nullcontext(),  # noqa: B008 - it has no state
    ) -> Exception | None:
        """Return what forward raises; None if it accepts the guess."""
        constants = values or {}
        passed = {one.name: _value(one, guesses, constants.get(one.name)) for one in guesses.inputs}
        args, kwargs = self.place(passed)
        try:
            with torch.random.fork_rng(devices=[]), torch.no_grad(), watch:
                torch.manual_seed(0)
                self.module(*args, **kwargs)
        except Exception as error:  # noqa: BLE001 - whatever user code raises is a refusal
            reraise_out_of_memory(error)
            return error
        return None

    def reads(self, guesses: Guesses, name: str) -> bool:
        """Return whether a function of torch gets an input."""
        passed = {one.name: _value(one, guesses, None) for one in guesses.inputs}
        args, kwargs = self.place(passed)
        seen = _Passed(passed[name])
        with suppress(Exception), torch.random.fork_rng(devices=[]), torch.no_grad(), seen:
            self.module(*args, **kwargs)
        return seen.found

    def accepts(self, guesses: Guesses, values: Mapping[str, float] | None = None) -> bool:
        """Return whether forward accepts a guess."""
        return self.refused(guesses, values) is None


class _Passed(CallMode):
    """Looks for a tensor among the arguments of torch's functions."""

    def __init__(self, tensor: torch.Tensor) -> None:
        super().__init__()
        self._tensor, self.found = tensor, False

    def on_call(self, func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:  # noqa: ANN401
        """Note whether the tensor is an argument, and make the call."""
        self.found |= any(one is self._tensor for one in tensors_in((args, kwargs)))
        return func(*args, **kwargs)


def by_parameters(parameters: Mapping[str, Parameter]) -> Callable[[Mapping[str, Any]], Arguments]:
    """Return a function that passes values by name if all are parameters, else in order.

    `batch.left` is the value of the key `left` of `batch`.
    """

    def place(values: Mapping[str, Any]) -> Arguments:
        passed = {
            name: build(value, _annotation(parameters.get(name)), name)
            for name, value in nest(values.items()).items()
        }
        return ((), passed) if passed.keys() <= parameters.keys() else ((*passed.values(),), {})

    return place


def _annotation(parameter: Parameter | None) -> Any:  # noqa: ANN401
    return Parameter.empty if parameter is None else parameter.annotation


def _value(guess: Guess, guesses: Guesses, constant: float | None) -> Any:  # noqa: ANN401
    if guess.kind is InputKind.CONSTANT:
        return guess.value
    if not guess.is_tensor:
        number = _NUMBERS[guess.kind]
        return type(number)(constant) if constant is not None else number
    tensor = _tensor(guess, guesses.shape(guess), constant)
    if guess.kind is InputKind.SEQUENCE:
        return [tensor.clone() for _ in range(guess.length or 1)]
    return tensor


def _tensor(guess: Guess, shape: tuple[int, ...], constant: float | None) -> torch.Tensor:
    dtype = TORCH_DTYPES[guess.dtype]
    if constant is not None:
        return torch.full(shape, constant, dtype=dtype)
    if guess.kind in KEPT:  # nothing is hidden
        return torch.full(shape, KEPT[guess.kind], dtype=dtype)
    low, high = guess.range or (0.0, 1.0)
    if guess.dtype is DType.BOOL:
        return torch.rand(shape) < 0.5  # noqa: PLR2004 - half of them
    if dtype.is_floating_point or dtype.is_complex:
        if guess.range is not None:
            return (torch.rand(shape) * (high - low) + low).to(dtype)
        return torch.randn(shape).to(dtype)
    return torch.randint(int(low), int(high) + 1, shape, dtype=dtype)


class _Watch(AtenMode):
    """Counts the ATen ops that compute, and keeps the one that raises."""

    def __init__(self, module: torch.nn.Module) -> None:
        super().__init__()
        tensors = (*module.parameters(), *module.buffers())
        self._weights = {tensor.untyped_storage().data_ptr() for tensor in tensors}
        self._ops = 0
        self._failed: tuple[Any, list[Any]] | None = None

    def on_op(self, func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:  # noqa: ANN401
        """Run the op."""
        try:
            result = func(*args, **kwargs)
        except Exception:
            self._failed = (func, list(_flat((*args, *kwargs.values()))))
            raise
        # Views are not counted: an input without a batch gets one by a view, and comes no further.
        self._ops += not _is_view(func)
        self._failed = None
        return result

    def refusal(self, text: str) -> Refusal:
        """Return the description of an error of this call."""
        if self._failed is None:
            return Refusal(text, self._ops)
        func, values = self._failed
        tensors = [value for value in values if isinstance(value, torch.Tensor)]
        weights = [t for t in tensors if t.untyped_storage().data_ptr() in self._weights]
        return Refusal(
            text,
            self._ops,
            op_name(func),
            tuple(tuple(t.shape) for t in tensors if not any(t is w for w in weights)),
            tuple(tuple(t.shape) for t in weights),
            tuple(value for value in values if type(value) is int),
        )


@functools.cache
def _is_view(func: Any) -> bool:  # noqa: ANN401
    return bool(aliased_arguments(func))


def _flat(values: Any) -> Iterator[Any]:  # noqa: ANN401
    for value in values:
        if isinstance(value, list | tuple):
            yield from _flat(value)
        else:
            yield value
