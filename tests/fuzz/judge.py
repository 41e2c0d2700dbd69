"""A published file against eager PyTorch, on inputs that the product never saw.

Integers and booleans are equal, NaN and infinities are at the same places. A number differs if it
is farther from eager than some units in the last place and 100 times what eager itself moves with
other roundings. An element that other roundings change altogether is not compared.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import torch
from numpy.typing import NDArray

from fuzz.case import FuzzCase
from fuzz.feeds import feeds
from fuzz.rounding import Overflows, rerun

Array = NDArray[Any]
TIMES = 100
"""How many times eager's own error a file may be off."""
ULPS = {"float16": 64, "float32": 64, "float64": 4096}
"""Units in the last place that a file may be off in any case, of the element and its fellows.

In float64, rounding of thousands of terms is still 1e-12, and a number in float32 1e-8.
"""
FELLOWS = 4
"""Elements of a dim that have a magnitude in common."""
_FEW, _MANY = range(4), range(4, 44)
"""Other roundings: of every difference, and of one that remains."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Where a file answers something else."""

    text: str
    feed: Mapping[str, torch.Tensor]


def judge(case: FuzzCase, module: torch.nn.Module, path: Path) -> Difference | None:
    """Return the first feed at which the file differs from eager; None if it is right."""
    session = open_session(path)
    shapes = declared_shapes(path)
    for sizes, feed in feeds(case):
        want = answers(module, feed)
        if want is None:
            continue
        text = compare(module, session, feed, want, shapes)
        if text:
            return Difference(f"at {dict(sizes)}: {text}", feed)
    return None


def compare(
    module: torch.nn.Module,
    session: Any,  # noqa: ANN401 - onnxruntime has no types
    feed: Mapping[str, torch.Tensor],
    want: Sequence[Array],
    shapes: Sequence[Sequence[int | None] | None],
) -> str:
    """Return what differs at one feed, empty if nothing does. `shapes`: that the file declares."""
    taken = {entry.name: feed[entry.name].numpy() for entry in session.get_inputs()}
    try:
        have, shapes = _tensors(session.run(None, taken), shapes)
    except Exception as error:  # noqa: BLE001 - whatever onnxruntime raises
        return f"onnxruntime fails: {str(error)[:300]}"
    if len(have) != len(want):
        return f"{len(have)} outputs, eager {len(want)}"
    for place, (expected, got, shape) in enumerate(zip(want, have, shapes, strict=True)):
        text = _form(expected, np.asarray(got), shape)
        if text:
            return f"output {place}: {text}"
    for seeds in (None, _FEW, _MANY):
        others = [] if seeds is None else _others(module, feed, seeds)
        text = _first(want, have, others)
        if not text:
            return ""
    return "" if _overflows(module, feed) else text


def _tensors(
    outputs: Sequence[Any], shapes: Sequence[Sequence[int | None] | None]
) -> tuple[list[Array], list[Sequence[int | None] | None]]:
    """Return the tensors of outputs, some of which are sequences, and their declared shapes."""
    have: list[Array] = []
    declared: list[Sequence[int | None] | None] = []
    for output, shape in zip(outputs, shapes, strict=True):
        tensors = output if isinstance(output, list) else [output]
        have += tensors
        declared += [None if isinstance(output, list) else shape] * len(tensors)
    return have, declared


def _overflows(module: torch.nn.Module, feed: Mapping[str, torch.Tensor]) -> bool:
    """Return whether eager overflows in float16.

    On a CPU, onnxruntime computes float16 in float32, where less does: what follows is another.
    """
    with Overflows() as mode:
        _call(module, feed)
    return bool(mode.found)


def declared_shapes(path: Path) -> list[list[int | None] | None]:
    """Return the shape that a file declares for each output: None where it declares none."""
    outputs = onnx.load(path, load_external_data=False).graph.output
    kinds = [output.type.tensor_type for output in outputs]
    return [
        [dim.dim_value if dim.HasField("dim_value") else None for dim in kind.shape.dim]
        if kind.HasField("shape")
        else None
        for kind in kinds
    ]


def _form(want: Array, have: Array, declared: Sequence[int | None] | None) -> str:
    """Return what is wrong with an output's dtype, shape, or declared shape."""
    if want.dtype != have.dtype or want.shape != have.shape:
        return f"{have.dtype}{list(have.shape)}, eager {want.dtype}{list(want.shape)}"
    if declared is not None and (
        len(declared) != want.ndim
        or any(size not in {None, own} for size, own in zip(declared, want.shape, strict=True))
    ):
        return f"declared {list(declared)}, is {list(want.shape)}"
    return ""


def _first(want: Sequence[Array], have: Sequence[Array], others: Sequence[Sequence[Array]]) -> str:
    for place, (expected, got) in enumerate(zip(want, have, strict=True)):
        moved = [other[place] for other in others if other[place].shape == expected.shape]
        if len(moved) < len(others):
            return ""  # its very shape depends on rounding
        wrong = differs(expected, np.asarray(got), moved)
        if wrong.any():
            spot = tuple(int(index) for index in np.argwhere(wrong)[0])
            return (
                f"output {place}: {np.count_nonzero(wrong)} of {wrong.size} elements differ; "
                f"at {list(spot)} {got[spot]!r}, eager {expected[spot]!r}"
            )
    return ""


def differs(want: Array, have: Array, others: Sequence[Array]) -> Array:
    """Return the elements that differ by more than rounding explains.

    `others`: what eager answers with other roundings.
    """
    if want.dtype.kind != "f":
        unsettled = np.zeros(want.shape, bool)
        for other in others:
            unsettled |= other != want
        return np.asarray((want != have) & ~unsettled)
    floor = ULPS[want.dtype.name] * float(np.finfo(want.dtype).eps)
    # On a CPU, onnxruntime computes float16 in float32, where less overflows.
    overflown = ~np.isfinite(want) & np.isfinite(have) & (want.dtype == np.float16)
    want, have = want.astype(np.float64), have.astype(np.float64)
    with np.errstate(all="ignore"):
        same = (want == have) | (np.isnan(want) & np.isnan(have))
        limit, unsettled = _limits(want, others, floor)
        return np.asarray(~same & ~(np.abs(want - have) <= limit) & ~unsettled & ~overflown)


def _limits(want: Array, others: Sequence[Array], floor: float) -> tuple[Array, Array]:
    """Return how far each element may be off, and which ones other roundings change altogether."""
    magnitudes = np.abs(np.where(np.isfinite(want), want, 0.0))
    noise = np.zeros(want.shape)
    unsettled = np.zeros(want.shape, bool)
    for other in (array.astype(np.float64) for array in others):
        finite = np.isfinite(want) & np.isfinite(other)
        unsettled |= ~finite & ~((want == other) | (np.isnan(want) & np.isnan(other)))
        noise = np.maximum(noise, np.where(finite, np.abs(other - want), 0.0))
    moving = noise[noise > 0]  # a transform returns zeros that eager computes exactly, too
    usual = float(np.median(moving)) if moving.size else 0.0
    vanishing = floor**2 * magnitudes.max(initial=0.0)
    limits = floor * (magnitudes + _typical(magnitudes)) + TIMES * np.maximum(noise, usual)
    return limits + vanishing, unsettled


def _typical(magnitudes: Array) -> Array:
    """Return the magnitude of each element's fellows: in the dim where they are smallest."""
    typical = np.full(magnitudes.shape, np.median(magnitudes) if magnitudes.size else 0.0)
    for axis, size in enumerate(magnitudes.shape):
        if size >= FELLOWS and magnitudes.size:
            typical = np.minimum(typical, np.median(magnitudes, axis=axis, keepdims=True))
    return typical


def answers(module: torch.nn.Module, feed: Mapping[str, torch.Tensor]) -> list[Array] | None:
    """Return what a fresh copy of the model answers; None where eager raises."""
    try:
        return _flat(_call(module, feed))
    except Exception:  # noqa: BLE001 - whatever torch raises: the feed is no part of the contract
        return None


def _call(module: torch.nn.Module, feed: Mapping[str, torch.Tensor]) -> object:
    given = [tensor.clone() for tensor in feed.values()]
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        answer: object = copy.deepcopy(module)(*given)
    return answer


def _flat(answer: object) -> list[Array]:
    return [leaf.numpy() for leaf in torch.utils._pytree.tree_leaves(answer)]


def _others(
    module: torch.nn.Module, feed: Mapping[str, torch.Tensor], seeds: Sequence[int]
) -> list[list[Array]]:
    return [_flat(answer) for answer in rerun(lambda: _call(module, feed), seeds)]


def open_session(path: Path) -> onnxruntime.InferenceSession:
    """Return a plain session, on the CPU and without its warnings."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
