"""The error of a precision: eager PyTorch in a simulation of it, compared with plain eager.

The artifact's error may be a small multiple of that (`verification.numerics.tolerance`): a larger
one has another cause than the precision. The simulation needs no file, no other runtime and no
change to the module: it intercepts the ATen ops that the module calls.

- Float16, BFloat16: weights, inputs and results of each op are rounded to the type, except for ops
  that the file keeps in float32. Overflow is clamped to the type's largest number, so that an
  infinity in the artifact is never excused.
- DynamicInt8, StaticInt8: the products with weights that onnxruntime's quantizer replaces get
  weights rounded to 8 bits by output channel, and activations to 8 bits over their range: the range
  in this call (dynamic), or over the calibration inputs (static, which quantizes results too).

Runs after the first round at random between two neighbours, so that they cover possible results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch

from modelexport_api.spec import Precision
from modelexport_exporter.torch_internals.aten_mode import AtenMode, aliased_arguments, op_name
from modelexport_exporter.torch_internals.pytree import tree_map

aten = torch.ops.aten
SMALLER = {Precision.FLOAT16: torch.float16, Precision.BFLOAT16: torch.bfloat16}
LEVELS = 255
"""Steps of an 8-bit activation over its range."""
WEIGHT_LEVELS = 64
"""Steps of a weight between 0 and its channel's largest magnitude; see `quantize`."""
_EXACT = frozenset(
    {"pow", "exp", "log", "sqrt", "rsqrt", "reciprocal", "mean", "sum", "cumsum", "prod", "var"}
    | {"var_mean", "sin", "cos", "arange", "linalg_vector_norm", "norm", "softplus", "tan"}
)
"""ATen ops whose results are float32 in the file; see `reduced_floats.KEPT`."""

_PRODUCTS: dict[str, tuple[int, int, int]] = {
    "linear": (0, 1, 0),
    "addmm": (1, 2, 1),
    "mm": (0, 1, 1),
    "matmul": (0, 1, -1),
    "bmm": (0, 1, -1),
}
"""Argument positions of activation and weight in a product, and the channels' axis."""
_CONVOLUTIONS: dict[str, tuple[int, int, int]] = dict.fromkeys(
    ("convolution", "_convolution", "conv1d", "conv2d", "conv3d", "mkldnn_convolution"), (0, 1, 0)
)


@dataclass
class Simulation:
    """A precision, ready to be simulated for one module."""

    precision: Precision
    weights: frozenset[int]
    """Addresses of the storages of the module's parameters and buffers."""
    ranges: dict[int, tuple[float, float]] = field(default_factory=dict)
    """StaticInt8: smallest and largest element of each activation, in the order of the calls."""

    @classmethod
    def of(cls, precision: Precision, tensors: Iterable[torch.Tensor]) -> Simulation:
        """Return the simulation for a module with these parameters and buffers."""
        return cls(precision, frozenset(_address(tensor) for tensor in tensors))

    def observe(self, call: Callable[[], Any]) -> None:
        """Record the ranges of activations while the call runs."""
        with torch.no_grad(), _Products(self, None):
            call()

    def run(self, call: Callable[[], Any], seed: int = 0) -> Any:  # noqa: ANN401
        """Return the call's result in the precision; seed 0 rounds to the nearest."""
        smaller = SMALLER.get(self.precision)
        with torch.no_grad():
            if smaller is not None:
                with _Rounding(smaller, seed):
                    return call()
            with _Products(self, seed):
                return call()


class _Rounding(AtenMode):
    """While active, float32 values are rounded to a smaller dtype."""

    def __init__(self, smaller: torch.dtype, seed: int) -> None:
        super().__init__()
        self._smaller = smaller
        self._jitter = _Jitter(seed)

    def on_op(self, func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:  # noqa: ANN401
        if aliased_arguments(func) or op_name(func) in _EXACT:
            return func(*args, **kwargs)
        args, kwargs = tree_map(self._nearest, (args, dict(kwargs)))
        return tree_map(self._round, func(*args, **kwargs))

    def _nearest(self, value: Any) -> Any:  # noqa: ANN401
        if not _is_single(value):
            return value
        info = torch.finfo(self._smaller)
        finite = torch.where(value.isfinite(), value.clamp(info.min, info.max), value)
        return finite.to(self._smaller).to(value.dtype)

    def _round(self, value: Any) -> Any:  # noqa: ANN401
        if not _is_single(value):
            return value
        return self._nearest(self._jitter.relative(value, torch.finfo(self._smaller).eps))


class _Products(AtenMode):
    """Observes the products with weights in order, or computes them in 8 bits."""

    def __init__(self, simulation: Simulation, seed: int | None) -> None:
        """Observe if `seed` is None."""
        super().__init__()
        self._simulation = simulation
        self._jitter = _Jitter(seed) if seed is not None else None
        dynamic = simulation.precision is Precision.DYNAMIC_INT8
        self._products = _PRODUCTS if dynamic else _PRODUCTS | _CONVOLUTIONS
        self._results_too = not dynamic
        self._calls = 0

    def on_op(self, func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:  # noqa: ANN401
        places = self._products.get(op_name(func))
        if places is None or not self._is_weight(args[places[1]]):
            return func(*args, **kwargs)
        activation, weight, axis = places
        self._calls += 1
        given = list(args)
        if self._jitter is None:
            result = func(*args, **kwargs)
            self._observe(2 * self._calls, args[activation])
            self._observe(2 * self._calls + 1, result)
            return result
        given[activation] = self._quantize(args[activation], 2 * self._calls, self._jitter)
        given[weight] = _by_channel(args[weight], axis)
        result = func(*given, **kwargs)
        if not self._results_too:
            return result
        return self._quantize(result, 2 * self._calls + 1, self._jitter)

    def _is_weight(self, value: Any) -> bool:  # noqa: ANN401
        return _is_single(value) and _address(value) in self._simulation.weights

    def _observe(self, place: int, value: torch.Tensor) -> None:
        if value.numel():
            low, high = self._simulation.ranges.get(place, (0.0, 0.0))
            now = (min(low, float(value.min())), max(high, float(value.max())))
            self._simulation.ranges[place] = now

    def _quantize(self, value: torch.Tensor, place: int, jitter: _Jitter) -> torch.Tensor:
        if not value.numel():
            return value
        low, high = self._simulation.ranges.get(
            place, (min(0.0, float(value.min())), max(0.0, float(value.max())))
        )
        step = (high - low) / LEVELS
        if not step or step - step != 0:
            return value
        lowest = round(low / step)
        return jitter.steps(value / step).clamp(lowest, lowest + LEVELS) * step


class _Jitter:
    """Moves numbers at random by up to one step; not at all for seed 0."""

    def __init__(self, seed: int) -> None:
        self._generator = torch.Generator().manual_seed(seed) if seed else None

    def relative(self, value: torch.Tensor, step: float) -> torch.Tensor:
        """Return the numbers moved by up to half a step of their own size."""
        if self._generator is None:
            return value
        return value * (1 + (self._draw(value) - 0.5) * step)

    def steps(self, value: torch.Tensor) -> torch.Tensor:
        """Return integers: the nearest, or one of the two neighbours at random."""
        if self._generator is None:
            return value.round()
        return (value + self._draw(value)).floor()

    def _draw(self, value: torch.Tensor) -> torch.Tensor:
        return torch.rand(value.shape, generator=self._generator, dtype=value.dtype).to(
            value.device
        )


def _by_channel(weight: torch.Tensor, axis: int) -> torch.Tensor:
    """Return the weight in 8 bits, with one scale per output channel."""
    others = [dim for dim in range(weight.dim()) if dim != axis % weight.dim()]
    step = weight.abs().amax(others, keepdim=True) / WEIGHT_LEVELS
    step = step.clamp(min=torch.finfo(weight.dtype).tiny)
    return (weight / step).round() * step


def _is_single(value: Any) -> bool:  # noqa: ANN401
    return isinstance(value, torch.Tensor) and value.dtype is torch.float32


def _address(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage().data_ptr()
