"""Perturbed arithmetic: the model computed in float64, or with each result rounded at random.

The distance of these results from those in the model's own precision is its own rounding error.

- `in_float64`: every ATen op computes in float64. The floating-point arguments of an op are widened
  when it is called, so weights are widened one at a time and never copied as a whole, and a cast in
  the model's code (`x.float()`, `dtype=torch.float32`) casts to float64.
- `with_random_rounding`: every ATen op computes in float64 from arguments in the model's own
  precision, and an inexact result is rounded at random to one of its neighbours. This is the CESTAC
  method of La Porte and Vignes (1974), by operator instead of by instruction: settled results
  hardly move, those that depend on rounding move far. Exact results (zeros, ones, halves) stay, so
  that ties which the model's code decides do not count as noise.

Tensors that an op writes into or returns a view of keep their dtype. Some models do not run in this
way, for example if their code compares dtypes: they raise `PerturbedArithmeticUnavailable`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch

from modelexport_exporter.torch_internals.aten_mode import AtenMode, aliased_arguments, op_name
from modelexport_exporter.torch_internals.call_mode import CallMode
from modelexport_exporter.torch_internals.pytree import tree_map
from modelexport_exporter.verification.numerics.arithmetic_dtype import MOVING
from modelexport_exporter.verification.numerics.long_sums import (
    is_exact_sum,
    magnitudes_inside,
    with_rounded_mean,
)
from modelexport_exporter.verification.numerics.size_arithmetic import SizeArithmetic

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
"""Functions that refuse arguments of two dtypes."""


SUMMING = frozenset(
    {
        *("mm", "addmm", "bmm", "baddbmm", "addmv", "mv", "dot", "matmul", "linear"),
        *("convolution", "_convolution", "sum", "mean", "cumsum"),
        *("native_batch_norm", "_native_batch_norm_legit", "_native_batch_norm_legit_no_training"),
        *("_batch_norm_with_update", "_batch_norm_no_update", "cudnn_batch_norm"),
        *("native_layer_norm", "native_group_norm", "_fused_rms_norm"),
        *("var", "std", "var_mean", "std_mean"),
    }
)
"""Ops that add many numbers: where these cancel, their own rounding is most of what is left."""


DECIDING = frozenset(
    {"eq", "ne", "lt", "le", "gt", "ge", "threshold", "hardshrink", "remainder", "fmod"}
    | {"floor_divide", "heaviside"}
)
"""Ops that decide at a number, which has the precision of the tensor: 0.4 is no float32, so that
x <= 0.4 would decide otherwise of an x of 0.4 where both were float64."""


class PerturbedArithmeticUnavailable(Exception):  # noqa: N818 - a result, no error
    """The model does not run in perturbed arithmetic."""


def in_float64(call: Callable[[], Any]) -> Any:  # noqa: ANN401
    """Return the call's result, computed in float64. Raises PerturbedArithmeticUnavailable."""
    with (
        raising_unavailable(),
        _default_dtype(torch.float64),
        torch.no_grad(),
        _widening(),
    ):
        return call()


def with_random_rounding(call: Callable[[], Any], seed: int) -> Any:  # noqa: ANN401
    """Return the call's result when its ops round at random. Same exceptions."""
    with raising_unavailable(), torch.no_grad(), _RoundAtRandom(seed):
        return call()


class _InFloat64(AtenMode):
    """While active, ATen ops compute in float64, whatever their arguments' dtype."""

    def __init__(self) -> None:
        super().__init__()
        self._sizes = SizeArithmetic()

    def on_op(self, func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:  # noqa: ANN401
        return self._sizes.run(func, args, kwargs, lambda: _call_wide(func, args, kwargs))


@contextmanager
def _widening() -> Iterator[None]:
    # nn.LSTM, nn.GRU and nn.RNN compare the dtype of their input with that of their weights.
    recurrent: Any = torch.nn.RNNBase
    check = recurrent.check_input
    recurrent.check_input = lambda *_: None
    try:
        with _InFloat64(), _WidenCalls():
            yield
    finally:
        recurrent.check_input = check


class _WidenCalls(CallMode):
    """Widens the arguments of functions that compare their types before any ATen op is called."""

    def on_call(self, func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:  # noqa: ANN401
        """Run the function, on doubles if it compares types."""
        if func not in COMPARING:
            return func(*args, **kwargs)
        return func(*tree_map(_widen, args), **tree_map(_widen, kwargs))


class _RoundAtRandom(AtenMode):
    """While active, inexact results of ATen ops are rounded up or down at random."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._seed = seed
        self._generators: dict[torch.device, torch.Generator] = {}
        self._sizes = SizeArithmetic()

    def on_op(self, func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:  # noqa: ANN401
        return self._sizes.run(func, args, kwargs, lambda: self._perturbed(func, args, kwargs))

    def _perturbed(self, func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:  # noqa: ANN401
        plain = func(*args, **kwargs)
        if aliased_arguments(func):
            return plain
        if not _has_narrow(plain):
            return self._round_doubles(func, plain)
        name = op_name(func)
        moves = name in SUMMING and not is_exact_sum(name, args)
        widen = self._widen_and_move if moves else _widen
        try:
            wide = _call_wide(func, args, kwargs, widen)
        except (RuntimeError, NotImplementedError):  # no kernel for float64
            return plain
        if isinstance(plain, torch.Tensor):
            return self._round(plain, wide, magnitudes_inside(func, args, kwargs, wide))
        wide = with_rounded_mean(op_name(func), args, wide, plain[0].dtype, self._generator)
        return type(plain)(self._round(one, two) for one, two in zip(plain, wide, strict=True))

    def _widen_and_move(self, value: Any) -> Any:  # noqa: ANN401
        """Widen a tensor, each number moved by its rounding, as inside of a sum.

        In float32 and in place: the weights of a model are most of what such a run reads.
        """
        if not isinstance(value, torch.Tensor) or value.dtype not in NARROW:
            return _widen(value)
        near = value.to(torch.float32)
        generator = self._generator(value.device)
        moved = torch.rand(value.shape, generator=generator, device=value.device)
        moved.sub_(0.5).mul_(2 * torch.finfo(value.dtype).eps).mul_(near).add_(near)
        moved = torch.where(torch.isfinite(near), moved, near)
        return moved.to(value.dtype).to(torch.float64)

    def _round_doubles(self, func: Any, plain: Any) -> Any:  # noqa: ANN401
        """Round float64 results at random, but those that float32 holds: they look exact."""
        if not isinstance(plain, torch.Tensor) or plain.dtype is not torch.float64:
            return plain
        if op_name(func) in MOVING:
            return plain
        return self._moved(plain, plain, plain.to(torch.float32).to(torch.float64) == plain)

    def _round(self, plain: Any, wide: Any, inside: torch.Tensor | None = None) -> Any:  # noqa: ANN401
        if not isinstance(plain, torch.Tensor) or plain.dtype not in NARROW:
            return plain
        if plain.shape != wide.shape:
            return plain
        nearest = wide.to(plain.dtype)
        exact = nearest.to(wide.dtype) == wide
        if inside is not None:
            exact = torch.zeros_like(exact)  # in this order of additions only
        return self._moved(nearest, wide, exact, inside)

    def _generator(self, device: torch.device) -> torch.Generator:
        generator = self._generators.get(device)
        if generator is None:
            generator = torch.Generator(device).manual_seed(self._seed)
            self._generators[device] = generator
        return generator

    def _moved(
        self,
        nearest: torch.Tensor,
        wide: torch.Tensor,
        exact: torch.Tensor,
        inside: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Return the nearest numbers; where they are not exact, `wide` rounded at random.

        `inside`: what the rounding is relative to, where that is not the result.
        """
        generator = self._generator(wide.device)
        moved = torch.rand(wide.shape, generator=generator, device=wide.device, dtype=wide.dtype)
        moved.sub_(0.5).mul_(2 * torch.finfo(nearest.dtype).eps)
        moved.mul_(wide if inside is None else inside).add_(wide)
        return torch.where(exact | ~torch.isfinite(wide), nearest, moved.to(nearest.dtype))


def _call_wide(
    func: Any,  # noqa: ANN401
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    widen: Callable[[Any], Any] | None = None,
) -> Any:  # noqa: ANN401
    if func in REINTERPRETING:
        msg = f"{func} reads the bits of a float"
        raise PerturbedArithmeticUnavailable(msg)
    widen = widen or _widen
    if op_name(func) in DECIDING:
        args = _with_numbers_rounded(args)
    kept = aliased_arguments(func)
    positional = [
        value if place in kept else tree_map(widen, value) for place, value in enumerate(args)
    ]
    named = {
        name: value if name in kept else tree_map(widen, value) for name, value in kwargs.items()
    }
    return func(*positional, **named)


def _widen(value: Any) -> Any:  # noqa: ANN401
    if isinstance(value, torch.Tensor) and value.dtype in NARROW:
        return value.to(torch.float64)
    if isinstance(value, torch.dtype) and value in NARROW:
        return torch.float64
    return value


def _with_numbers_rounded(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the arguments, numbers rounded to the dtype of the tensor that they are used with."""
    tensors = (value for value in args if isinstance(value, torch.Tensor))
    narrow = next((tensor.dtype for tensor in tensors if tensor.dtype in NARROW), None)
    if narrow is None:
        return args
    return tuple(_rounded(value, narrow) for value in args)


def _rounded(value: Any, dtype: torch.dtype) -> Any:  # noqa: ANN401
    if isinstance(value, float):
        return torch.tensor(value, dtype=dtype).item()
    is_number = isinstance(value, torch.Tensor) and not value.dim()
    return value.to(dtype) if is_number and value.dtype is torch.float64 else value


def _has_narrow(result: Any) -> bool:  # noqa: ANN401
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
def raising_unavailable() -> Iterator[None]:
    """Raise PerturbedArithmeticUnavailable for any exception of the block."""
    try:
        yield
    except PerturbedArithmeticUnavailable:
        raise
    except Exception as error:
        msg = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
        raise PerturbedArithmeticUnavailable(msg) from error
