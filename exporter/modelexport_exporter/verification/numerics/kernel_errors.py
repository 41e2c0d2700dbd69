"""Errors of onnxruntime's kernels that are absolute, however small the result is.

Its Sigmoid approximates by a rational function that is exact to some units of the function's range
of 1. A gate of 1e-6 is off by a tenth, and so is what it multiplies. With this mode eager PyTorch
has an error of the same size, which is part of the noise of small slices, and of a whole output
up to a few floors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

from modelexport_exporter.torch_internals.aten_mode import AtenMode, op_name

UNITS = 3.0
"""Units of roundoff of 1; 2.8 measured in float32 over [-25, 25], 2 in float64."""
_FACTORS: Mapping[str, Callable[[tuple[Any, ...]], Tensor | float]] = {
    "sigmoid": lambda _args: 1.0,
    "silu": lambda args: args[0].abs(),
    "glu": lambda args: args[0].chunk(2, args[1] if len(args) > 1 else -1)[0].abs(),
}
"""What multiplies the sigmoid inside of an op."""


class KernelErrors(AtenMode):
    """While active, ATen ops with a sigmoid inside have an absolute error, up or down."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._seed = seed
        self.found = False
        """Whether there was such an op."""

    def on_op(self, func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:  # noqa: ANN401
        """Return what the op returns, with the error of a kernel."""
        result = func(*args, **kwargs)
        factor = _FACTORS.get(op_name(func))
        if factor is None or not isinstance(result, Tensor) or not result.is_floating_point():
            return result
        self.found = True
        generator = torch.Generator(result.device).manual_seed(self._seed)
        signs = torch.randint(0, 2, result.shape, generator=generator, device=result.device) * 2 - 1
        unit = torch.finfo(result.dtype).eps / 2
        return (result + signs * (UNITS * unit * factor(args))).to(result.dtype)
