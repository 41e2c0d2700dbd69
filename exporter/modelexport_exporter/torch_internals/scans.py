"""torch's `scan`, a graph for one step of a loop and the number of steps, called while it captures.

torch's own function reads the step's bytecode, which neither keeps the dims of an outer capture nor
knows what the capture has put in place of functions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch._higher_order_ops.scan import scan_op
from torch.fx.experimental.proxy_tensor import disable_proxy_modes_tracing, get_proxy_mode

Step = Callable[[Any, Sequence[Tensor], Sequence[Any]], tuple[Sequence[Tensor], Sequence[Tensor]]]
"""From a place, what is carried and what it reads, to what is carried on, and its results."""


def number_between(first: int, size: torch.SymInt) -> torch.SymInt:
    """Return a number that is in no graph, of `first` up to `size`."""
    number = _environment(size).create_unbacked_symint()
    return _bounded(number, first, size)  # type: ignore[no-any-return]


def _environment(size: torch.SymInt) -> Any:  # noqa: ANN401
    return size.node.shape_env


def has_steps(first: int, size: torch.SymInt) -> bool:
    """Return whether there is a step from `first` up to `size`, at each size."""
    return first == 0 and bool(size.node.expr.is_Symbol)  # torch takes a size to be 2 at least


def _bounded(number: Any, first: int, size: torch.SymInt) -> Any:  # noqa: ANN401
    torch._check(number >= first)  # noqa: SLF001 - documented by torch under this name
    if has_steps(first, size):
        torch._check(number < size)  # noqa: SLF001
    return number


@contextmanager
def not_recorded(size: torch.SymInt) -> Iterator[None]:
    """Compute shapes without a trace in the graph that is being captured."""
    recording = get_proxy_mode() is not None
    with _environment(size).ignore_fresh_unbacked_symbols():
        if not recording:
            yield
            return
        with disable_proxy_modes_tracing():
            yield


def scan(
    step: Step, carried: Sequence[Tensor], first: int, size: torch.SymInt, reads: Sequence[Any]
) -> tuple[list[Tensor], list[Tensor]]:
    """Return what the last step carries on, and the results of all steps, stacked [n, …].

    The steps are those of `first` up to `size`. `reads`: the tensors that a step reads, the same
    in all. Where there may be no step, one is computed and not used: onnxruntime's `Scan` needs
    one. Its place is `first`, beyond the last row.
    """
    count = size - first
    some = has_steps(first, size)
    places = torch.arange(first, size if some else torch.sym_max(size, first + 1))
    # What shares memory with another input would be refused.
    inputs = [_in_order(one) for one in carried]
    others = [
        one.clone() if isinstance(one, Tensor) and not isinstance(one, torch.nn.Parameter) else one
        for one in reads
    ]
    last, results = _scan(step, inputs, places, others, (first, size))
    if some:
        return last, results
    any_step = torch.ops.aten.scalar_tensor(torch.sym_min(1, count)) > 0
    kept = [torch.where(any_step, new, old) for new, old in zip(last, inputs, strict=True)]
    return kept, [one[:count] for one in results]


def _in_order(one: Tensor) -> Tensor:
    """Return a copy whose strides are those of its shape: torch wants the same in all steps."""
    return one.clone(memory_format=torch.contiguous_format)


def _scan(
    step: Step,
    carried: Sequence[Tensor],
    places: Tensor,
    reads: Sequence[Any],
    bounds: tuple[int, torch.SymInt],
) -> tuple[list[Tensor], list[Tensor]]:
    count = len(carried)

    def combine(*flat: Any) -> list[Tensor]:  # noqa: ANN401
        place = _bounded(flat[count].item(), *bounds)
        carried_on, results = step(place, flat[:count], flat[count + 1 :])
        return [_in_order(one) for one in (*carried_on, *results)]

    if get_proxy_mode() is None:  # for the shapes alone
        with _environment(bounds[1]).ignore_fresh_unbacked_symbols():
            found = combine(*carried, places[0], *reads)
        return found[:count], [one.expand(places.shape[0], *one.shape) for one in found[count:]]
    found = list(scan_op(combine, list(carried), [places], tuple(reads)))
    return found[:count], found[count:]
