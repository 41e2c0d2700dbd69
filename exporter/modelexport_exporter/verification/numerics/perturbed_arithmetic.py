"""The model computed in float64: the distance from its own precision is its own rounding error.

Every ATen op computes in float64. The floating-point arguments of an op are widened when it is
called, so weights are widened one at a time and never copied as a whole, and a cast in the model's
code (`x.float()`, `dtype=torch.float32`) casts to float64. Complex numbers are widened likewise.

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
from modelexport_exporter.verification.numerics.size_arithmetic import SizeArithmetic

NARROW = frozenset({torch.float16, torch.bfloat16, torch.float32})
WIDE = {
    **dict.fromkeys(NARROW, torch.float64),
    **dict.fromkeys((torch.complex32, torch.complex64), torch.complex128),
}
"""The double precision of a dtype."""
REINTERPRETING = frozenset({torch.ops.aten.view.dtype})
"""Ops that read a float's bits: there are others in float64."""
LOOKING_UP = frozenset({"embedding", "index_select", "gather"})
"""Ops that return some of the numbers of a tensor: these are widened, and not the whole table."""
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


class _InFloat64(AtenMode):
    """While active, ATen ops compute in float64, whatever their arguments' dtype."""

    def __init__(self) -> None:
        super().__init__()
        self._sizes = SizeArithmetic()

    def on_op(self, func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:  # noqa: ANN401
        return self._sizes.run(func, args, kwargs, lambda: call_wide(func, args, kwargs))


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
        return func(*tree_map(widened, args), **tree_map(widened, kwargs))


def call_wide(
    func: Any,  # noqa: ANN401
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    widen: Callable[[Any], Any] | None = None,
) -> Any:  # noqa: ANN401
    """Return what an op returns when `widen` widens its arguments; without it, `widened`."""
    if widen is None and op_name(func) in LOOKING_UP:
        return widened(func(*args, **kwargs))
    if func in REINTERPRETING:
        msg = f"{func} reads the bits of a float"
        raise PerturbedArithmeticUnavailable(msg)
    widen = widen or widened
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


def widened(value: Any) -> Any:  # noqa: ANN401
    """Return a tensor or a dtype in double precision, anything else as it is."""
    if isinstance(value, torch.Tensor) and value.dtype in WIDE:
        return value.to(WIDE[value.dtype])
    return WIDE.get(value, value) if isinstance(value, torch.dtype) else value


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
