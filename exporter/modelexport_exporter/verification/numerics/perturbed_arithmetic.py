"""The model with other roundings than its own: in float64, or each result rounded at random.

What a model errs by itself is the distance between its results in its own precision and these.

- `in_float64`: every ATen op computes in float64. The floating-point arguments of an op are widened
  as it is called, so weights are widened one at a time and never copied as a whole, and a cast that
  the model writes down (`x.float()`, `dtype=torch.float32`) becomes one to float64.
- `rounded_at_random`: every ATen op computes in float64 from arguments in the model's own
  precision, and its result is moved to a number beside it, unless it is exact. This is the CESTAC
  method of La Porte and Vignes (1974), by operator instead of by instruction: results that are
  settled hardly move, those that hang on rounding jump. What is exact (zeros, ones, halves) stays,
  so a tie that the model's code decides is not taken for noise.

Tensors that an op writes into or returns a view of keep their type. Not every model runs in this
way (its code may compare types); `PerturbedArithmeticUnavailable` says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from modelexport_exporter.torch_internals.aten_mode import AtenMode, aliased
from modelexport_exporter.torch_internals.pytree import tree_map

NARROW = frozenset({torch.float16, torch.bfloat16, torch.float32})
REINTERPRETING = frozenset({torch.ops.aten.view.dtype})
"""Ops that read a float's bits: there are others in float64."""
COMPARING = frozenset(
    {
        torch.bilinear,
        torch.conv1d,
        torch.conv2d,
        torch.conv3d,
        torch.conv_transpose1d,
        torch.conv_transpose2d,
        torch.conv_transpose3d,
        torch.prelu,
        torch.lstm,
        torch.gru,
        torch.rnn_relu,
        torch.rnn_tanh,
        torch.lstm_cell,
        torch.gru_cell,
        torch.rnn_relu_cell,
        torch.rnn_tanh_cell,
    }
)
"""Functions that refuse arguments of two types."""


class PerturbedArithmeticUnavailable(Exception):  # noqa: N818 - an answer, not a defect
    """The model cannot be computed with other roundings."""


def in_float64(call: Callable[[], Any]) -> Any:  # noqa: ANN401
    """Return what the call returns in float64. Raises PerturbedArithmeticUnavailable."""
    with reported_as_unavailable(), _default_dtype(torch.float64), torch.no_grad(), _widened():
        return call()


def rounded_at_random(call: Callable[[], Any], seed: int) -> Any:  # noqa: ANN401
    """Return what the call returns when its ops round at random. Same exceptions."""
    with reported_as_unavailable(), torch.no_grad(), _RoundedAtRandom(seed):
        return call()


class _InFloat64(AtenMode):
    """While active, ATen ops compute in float64 whatever their arguments' precision."""

    def on_op(self, func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:  # noqa: ANN401
        return _call_widened(func, args, kwargs)


@contextmanager
def _widened() -> Iterator[None]:
    # nn.LSTM and its like compare, in Python, the type of their input with that of their weights.
    recurrent: Any = torch.nn.RNNBase
    check = recurrent.check_input
    recurrent.check_input = lambda *_: None
    try:
        with _InFloat64(), _WidenedCalls():
            yield
    finally:
        recurrent.check_input = check


class _WidenedCalls(TorchFunctionMode):
    """Widens the arguments of functions that compare their types before any ATen op is called."""

    def __torch_function__(
        self,
        func: Any,  # noqa: ANN401
        types: Any,  # noqa: ANN401
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401
        if func not in COMPARING:
            return func(*args, **(kwargs or {}))
        return func(*tree_map(_widen, args), **tree_map(_widen, kwargs or {}))


class _RoundedAtRandom(AtenMode):
    """While active, inexact results of ATen ops are rounded up or down at random."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._seed = seed
        self._generators: dict[torch.device, torch.Generator] = {}

    def on_op(self, func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:  # noqa: ANN401
        plain = func(*args, **kwargs)
        if aliased(func) or not _holds_narrow(plain):
            return plain
        try:
            wide = _call_widened(func, args, kwargs)
        except (RuntimeError, NotImplementedError):  # no kernel for float64
            return plain
        if isinstance(plain, torch.Tensor):
            return self._rounded(plain, wide)
        return type(plain)(self._rounded(one, two) for one, two in zip(plain, wide, strict=True))

    def _rounded(self, plain: Any, wide: Any) -> Any:  # noqa: ANN401
        if not isinstance(plain, torch.Tensor) or plain.dtype not in NARROW:
            return plain
        if plain.shape != wide.shape:
            return plain
        generator = self._generators.get(plain.device)
        if generator is None:
            generator = torch.Generator(plain.device).manual_seed(self._seed)
            self._generators[plain.device] = generator
        part = torch.rand(wide.shape, generator=generator, device=wide.device, dtype=wide.dtype)
        moved = wide * (1 + (2 * part - 1) * torch.finfo(plain.dtype).eps)
        nearest = wide.to(plain.dtype)
        exact = nearest.to(wide.dtype) == wide
        return torch.where(exact | ~torch.isfinite(wide), nearest, moved.to(plain.dtype))


def _call_widened(func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:  # noqa: ANN401
    if func in REINTERPRETING:
        msg = f"{func} reads the bits of a float"
        raise PerturbedArithmeticUnavailable(msg)
    kept = aliased(func)
    positional = [
        value if place in kept else tree_map(_widen, value) for place, value in enumerate(args)
    ]
    named = {
        name: value if name in kept else tree_map(_widen, value) for name, value in kwargs.items()
    }
    return func(*positional, **named)


def _widen(value: Any) -> Any:  # noqa: ANN401
    if isinstance(value, torch.Tensor) and value.dtype in NARROW:
        return value.to(torch.float64)
    if isinstance(value, torch.dtype) and value in NARROW:
        return torch.float64
    return value


def _holds_narrow(result: Any) -> bool:  # noqa: ANN401
    leaves = result if isinstance(result, tuple | list) else (result,)
    return any(isinstance(leaf, torch.Tensor) and leaf.dtype in NARROW for leaf in leaves)


@contextmanager
def _default_dtype(dtype: torch.dtype) -> Iterator[None]:
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


@contextmanager
def reported_as_unavailable() -> Iterator[None]:
    """Raise PerturbedArithmeticUnavailable for whatever the block raises."""
    try:
        yield
    except PerturbedArithmeticUnavailable:
        raise
    except Exception as error:
        msg = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
        raise PerturbedArithmeticUnavailable(msg) from error
