"""Moves inputs along the gradients of what the model compares.

A detector whose scores stay below its threshold on noise, and `x.abs().max() > 400`, say with their
own operands in which direction a sample must change. The steps double, so that few of them reach
any magnitude.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from modelexport_api.spec import Input
from modelexport_exporter.torch_internals.aten_mode import AtenMode, op_name
from modelexport_exporter.torch_internals.call_mode import CallMode, call_name

Array = NDArray[Any]
Values = Mapping[str, torch.Tensor]

STEPS = 14
FIRST_STEP = 0.25
"""Of the mean magnitude of an input, or of a 64th of its range."""
MOST_SIGNALS = 12
"""The last ones: what decides an output is computed late."""
COMPARING = frozenset(
    {"gt", "lt", "ge", "le", "eq", "ne", "greater", "less", "greater_equal", "less_equal"}
)
READING_NUMBERS = frozenset({"item", "tolist", "float", "int"})
READING_SCALARS = frozenset({"_local_scalar_dense", "item"})
"""The same as ATen ops."""


@dataclass(frozen=True)
class Signal:
    """A number that gradients can raise or lower, by its place among the model's comparisons."""

    position: int
    smallest: bool
    """Whether it is the smallest difference of the operands rather than the largest."""
    raised: bool

    def of(self, differences: Sequence[torch.Tensor]) -> torch.Tensor | None:
        """Return the number to raise; None if the model did not come to this comparison."""
        if self.position >= len(differences):
            return None
        difference = differences[self.position]
        finite = difference[torch.isfinite(difference)]
        if not finite.numel() or not finite.requires_grad:
            return None
        chosen = finite.min() if self.smallest else finite.max()
        return chosen if self.raised else -chosen


class Differences(CallMode):
    """Records the differences of what a model compares, with their gradients."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[torch.Tensor] = []

    def on_call(self, func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:  # noqa: ANN401
        """Note the operands of a comparison, or a number that is read; run the function."""
        name = call_name(func).strip("_")
        if name in COMPARING and len(args) > 1:
            self._note(args[0], args[1])
        elif name in READING_NUMBERS and args:
            self._note(args[0], 0)
        return func(*args, **kwargs)

    def _note(self, left: Any, right: Any) -> None:  # noqa: ANN401
        tensors = [entry for entry in (left, right) if isinstance(entry, torch.Tensor)]
        if any(entry.is_floating_point() and entry.requires_grad for entry in tensors):
            self.found.append(left - right)


class Operands(AtenMode):
    """Records what a compiled script compares, whose calls of functions are not seen."""

    def __init__(self) -> None:
        super().__init__()
        self._found: list[tuple[Any, Any]] = []

    def on_op(self, func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:  # noqa: ANN401
        """Note the operands of a comparison, or a number that is read; run the op."""
        name = op_name(func)
        if name in COMPARING and len(args) > 1:
            self._found.append((args[0], args[1]))
        elif name in READING_SCALARS:
            self._found.append((args[0], 0))
        return func(*args, **kwargs)

    def differences(self) -> list[torch.Tensor]:
        """Return the differences with their gradients: ops see tensors below autograd."""
        return [
            left - right
            for left, right in self._found
            if any(isinstance(one, torch.Tensor) and one.requires_grad for one in (left, right))
        ]


def ascend(
    inputs: Sequence[Input],
    arrays: Mapping[str, Array],
    call: Callable[[Values], object],
    to_values: Callable[[Mapping[str, Array]], dict[str, torch.Tensor]],
) -> Iterator[dict[str, Array]]:
    """Yield arrays ever farther along the gradient of each comparison, in both directions."""
    movable = [entry for entry in inputs if _is_movable(arrays[entry.name])]
    if not movable:
        return
    found = _differences(arrays, call, to_values, movable)[1]
    for position in list(range(len(found)))[-MOST_SIGNALS:][::-1]:
        for smallest, raised in ((False, True), (True, False), (True, True), (False, False)):
            if found[position].numel() == 1 and smallest:
                continue
            yield from _climb(Signal(position, smallest, raised), movable, arrays, call, to_values)


def _climb(
    signal: Signal,
    movable: Sequence[Input],
    arrays: Mapping[str, Array],
    call: Callable[[Values], object],
    to_values: Callable[[Mapping[str, Array]], dict[str, torch.Tensor]],
) -> Iterator[dict[str, Array]]:
    current = dict(arrays)
    for step in range(STEPS):
        values, found = _differences(current, call, to_values, movable)
        target = signal.of(found)
        if target is None:
            return
        leaves = [values[entry.name] for entry in movable]
        gradients = torch.autograd.grad(target, leaves, allow_unused=True)
        if not any(entry is not None and entry.any() for entry in gradients):
            return
        for entry, gradient in zip(movable, gradients, strict=True):
            if gradient is not None:
                size = FIRST_STEP * 2**step
                current[entry.name] = _moved(entry, current[entry.name], gradient, size)
        yield dict(current)


def _moved(entry: Input, array: Array, gradient: torch.Tensor, size: float) -> Array:
    """Return the array after a step along the gradient, within the input's range."""
    direction = gradient.detach().cpu().double().nan_to_num().numpy()
    largest = float(np.abs(direction).max())
    if not largest:
        return array
    if entry.range is None:
        low, high, unit = -math.inf, math.inf, float(np.abs(array).mean(dtype=np.float64)) or 1.0
    else:
        low, high = entry.range
        unit = (high - low) / 64
    moved = array.astype(np.float64) + size * unit * np.sign(direction) * _weights(direction)
    limit = float(np.finfo(array.dtype).max) / 4
    return np.asarray(np.clip(moved, max(low, -limit), min(high, limit)).astype(array.dtype))


def _weights(direction: Array) -> Array:
    """Return how far each element moves: in proportion to the root of its gradient."""
    return np.asarray(np.sqrt(np.abs(direction) / np.abs(direction).max()))


def _differences(
    arrays: Mapping[str, Array],
    call: Callable[[Values], object],
    to_values: Callable[[Mapping[str, Array]], dict[str, torch.Tensor]],
    movable: Sequence[Input],
) -> tuple[dict[str, torch.Tensor], list[torch.Tensor]]:
    """Return the inputs as tensors with gradients, and the differences that the model compares."""
    values = to_values(arrays)
    values |= {
        entry.name: values[entry.name].detach().clone().requires_grad_() for entry in movable
    }
    differences = Differences()
    _run(differences, values, call)
    if differences.found:
        return values, differences.found
    operands = Operands()
    _run(operands, values, call)
    with torch.enable_grad():
        return values, operands.differences()


def _run(
    mode: AbstractContextManager[object], values: Values, call: Callable[[Values], object]
) -> None:
    try:
        with torch.enable_grad(), mode:
            call(values)
    except Exception:  # noqa: BLE001, S110 - the model may refuse what the steps led to
        pass


def _is_movable(array: Array) -> bool:
    return array.dtype in (np.float32, np.float64) and array.size > 0
