"""Errors of onnxruntime's kernels that are larger than those of PyTorch's.

Its Sigmoid and Tanh approximate by rational functions. Sigmoid is exact to some units of its range
of 1: a gate of 1e-6 is off by a tenth, and so is what it multiplies. Tanh is exact to some units of
its result. With this mode eager PyTorch has errors of the same size, which are part of the noise of
small slices, and of a whole output up to a few floors. oneDNN's recurrent layers show no activation
of theirs: call them without it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

from modelexport_exporter.torch_internals.aten_mode import AtenMode, op_name

UNITS = 3.0
"""Units of roundoff of 1; 2.8 measured in float32 over [-25, 25], 2 in float64."""
TANH_UNITS = 5.5
"""Units of roundoff of the result; 5.4 measured in float32 over [1e-6, 10]."""
Operands = tuple[Any, ...]
_ERRORS: Mapping[str, Callable[[Operands, Tensor], Tensor | float]] = {
    "sigmoid": lambda _args, _result: UNITS,
    "silu": lambda args, _result: UNITS * args[0].abs(),
    "glu": lambda args, _result: (
        UNITS * args[0].chunk(2, args[1] if len(args) > 1 else -1)[0].abs()
    ),
    "tanh": lambda _args, result: TANH_UNITS * result.abs(),
}
"""By operator, its error in units of roundoff, from its operands and its result."""
_IN_PLACE = {"sigmoid_": "sigmoid", "tanh_": "tanh"}
"""Recurrent layers compute so."""


class KernelErrors(AtenMode):
    """While active, ATen ops that onnxruntime approximates have its errors, up or down."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._seed = seed
        self.found = False
        """Whether there was such an op."""

    def on_op(self, func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:  # noqa: ANN401
        """Return what the op returns, with the error of a kernel."""
        result = func(*args, **kwargs)
        name = op_name(func)
        error = _ERRORS.get(_IN_PLACE.get(name, name))
        if error is None or not isinstance(result, Tensor) or not result.is_floating_point():
            return result
        self.found = True
        generator = torch.Generator(result.device).manual_seed(self._seed)
        signs = torch.randint(0, 2, result.shape, generator=generator, device=result.device) * 2 - 1
        unit = torch.finfo(result.dtype).eps / 2
        moved = (result + signs * (unit * error(args, result))).to(result.dtype)
        return result.copy_(moved) if name in _IN_PLACE else moved
