"""The model computed with each result rounded at random.

Every ATen op computes in float64 from arguments in the model's own precision, and an inexact result
is rounded at random to one of its neighbours. This is the CESTAC method of La Porte and Vignes
(1974), by operator instead of by instruction: settled results hardly move, those that depend on
rounding move far. Exact results (zeros, ones, halves) stay, so that ties which the model's code
decides do not count as noise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch

from modelexport_exporter.torch_internals.aten_mode import AtenMode, aliased_arguments, op_name
from modelexport_exporter.verification.numerics.arithmetic_dtype import MOVING
from modelexport_exporter.verification.numerics.complex_rounding import (
    TRANSFORMS,
    magnitudes_of_transform,
    rounding_of_parts,
)
from modelexport_exporter.verification.numerics.long_sums import (
    is_exact_sum,
    magnitudes_inside,
    with_rounded_mean,
)
from modelexport_exporter.verification.numerics.perturbed_arithmetic import (
    NARROW,
    WIDE,
    call_wide,
    raising_unavailable,
    widened,
)
from modelexport_exporter.verification.numerics.size_arithmetic import SizeArithmetic

SUMMING = frozenset(
    {
        *("mm", "addmm", "bmm", "baddbmm", "addmv", "mv", "dot", "matmul", "linear"),
        *("convolution", "_convolution", "sum", "mean", "cumsum", "trace", "nansum", "vdot"),
        *("addr", "addcmul", "addcdiv", "lerp"),
        *("native_batch_norm", "_native_batch_norm_legit", "_native_batch_norm_legit_no_training"),
        *("_batch_norm_with_update", "_batch_norm_no_update", "cudnn_batch_norm"),
        *("native_layer_norm", "native_group_norm", "_fused_rms_norm"),
        *("var", "std", "var_mean", "std_mean"),
    }
)
"""Ops that add many numbers: where these cancel, their own rounding is most of what is left."""


def with_random_rounding(call: Callable[[], Any], seed: int) -> Any:  # noqa: ANN401
    """Return the call's result when its ops round at random.

    Raises PerturbedArithmeticUnavailable.
    """
    with raising_unavailable(), torch.no_grad(), _RoundAtRandom(seed):
        return call()


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
        widen = self._widen_and_move if moves else widened
        try:
            wide = call_wide(func, args, kwargs, widen)
        except (RuntimeError, NotImplementedError):  # no kernel for float64
            return plain
        if isinstance(plain, torch.Tensor) and plain.is_complex():
            return self._round_parts(name, args, plain, wide)
        if isinstance(plain, torch.Tensor):
            inside = (
                magnitudes_of_transform(args, wide)
                if name in TRANSFORMS
                else magnitudes_inside(func, args, kwargs, wide)
            )
            return self._round(plain, wide, inside)
        wide = with_rounded_mean(name, args, wide, plain[0].dtype, self._generator)
        return type(plain)(self._round(one, two) for one, two in zip(plain, wide, strict=True))

    def _widen_and_move(self, value: Any) -> Any:  # noqa: ANN401
        """Widen a tensor, each number moved by its rounding, as inside of a sum.

        In float32 and in place: the weights of a model are most of what such a run reads.
        """
        if not isinstance(value, torch.Tensor) or value.dtype not in WIDE:
            return widened(value)
        if value.is_complex():
            parts = torch.view_as_real(value.resolve_conj())
            return torch.view_as_complex(self._widen_and_move(parts).contiguous())
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

    def _round_parts(
        self, name: str, args: tuple[Any, ...], plain: torch.Tensor, wide: torch.Tensor
    ) -> torch.Tensor:
        """Round the real and imaginary parts of a complex result."""
        if plain.dtype not in WIDE or plain.shape != wide.shape:
            return plain
        wide = wide.resolve_conj().resolve_neg()
        nearest = torch.view_as_real(wide.to(plain.dtype))
        inside, exact = rounding_of_parts(name, args, wide, nearest)
        moved = self._moved(nearest, torch.view_as_real(wide), exact, inside)
        return torch.view_as_complex(moved.contiguous())

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


def _has_narrow(result: Any) -> bool:  # noqa: ANN401
    leaves = result if isinstance(result, tuple | list) else (result,)
    return any(isinstance(leaf, torch.Tensor) and leaf.dtype in WIDE for leaf in leaves)
