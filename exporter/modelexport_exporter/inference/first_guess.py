"""The first guess of each parameter: from what the user states, its name and the first layers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from inspect import Parameter
from typing import Any, get_args, get_origin

import torch

from modelexport_api.spec import Dim, DType, InputKind
from modelexport_exporter.call.lowering import NUMBER_DTYPES
from modelexport_exporter.call.signature import Signature
from modelexport_exporter.core.proposal import StatedInput
from modelexport_exporter.inference.guess import (
    BATCH,
    Guess,
    Guesses,
    dims_in,
    is_expression,
    new_axes,
    unused_size,
)
from modelexport_exporter.inference.layers import Layer
from modelexport_exporter.inference.passed import passed_names
from modelexport_exporter.sampling.masks import KEPT

_INTEGERS = re.compile(
    r"(^|_)(ids?|idx|index|indices|tokens?|labels?|ids?_.*|positions?|classes)($|_)|_ids?$|index"
)
_LENGTHS = re.compile(r"(^|_)(len|lens|lengths?|counts?|sizes?)($|_)|lengths?$")
_MASK = re.compile(r"mask|(^|_)pad(ding|ded)?($|_)")
_PADDING = re.compile(r"pad")
_PYTHON = {int: InputKind.INT, float: InputKind.FLOAT, bool: InputKind.BOOL}
_LENGTH = 2
"""Of a list of tensors that nobody has described."""


def first_guesses(
    signature: Signature,
    stated: Sequence[StatedInput],
    dims: Mapping[str, Dim],
    layers: Sequence[Layer],
    floating: DType,
) -> Guesses:
    """Return a guess for each parameter that must be passed, or that the user names.

    Raises ExportFailure for an input that forward has no parameter for.
    """
    by_name, passed = {one.name: one for one in stated}, passed_names(signature, stated)
    if any(_INTEGERS.search(name.lower()) for name, _ in passed):
        # The tables have inputs of their own: the others are passed to other layers.
        others = [layer for layer in layers if layer.rows is None]
        layers = [*others, *(layer for layer in layers if layer.rows is not None)]
    guesses = Guesses((), {})
    for name, parameter in passed:
        guess, constants = _guess(name, parameter, layers, floating)
        known = by_name.get(name)
        if known is not None:
            guess, constants = _as_stated(guess, constants, known)
        guesses = _placed(guesses, guess, constants, known, dims)
    return _with_stated_batch(guesses, stated)


def _placed(
    guesses: Guesses,
    guess: Guess,
    constants: Mapping[str, int],
    stated: StatedInput | None,
    dims: Mapping[str, Dim],
) -> Guesses:
    """Return the guesses with that of an input, and with the sizes that are known of it."""
    for axis, size in constants.items():
        guesses = guesses.with_known(axis, size)
    guesses = _with_stated_sizes(guesses, guess.axes, dims).with_input(guess)
    if stated is None or stated.shape is None:
        return guesses
    return replace(guesses, said=guesses.said | {guess.name})


def _with_stated_batch(guesses: Guesses, stated: Sequence[StatedInput]) -> Guesses:
    """Return the guesses with the user's own name for the batch, where all first axes have one."""
    first = {one.shape[0] for one in stated if one.shape}
    name = first.pop() if len(first) == 1 else BATCH
    used = any(BATCH in one.axes for one in guesses.inputs)
    if not isinstance(name, str) or name == BATCH or is_expression(name) or not used:
        return guesses
    return guesses.renamed(BATCH, name)


def with_stated(
    guesses: Guesses, stated: Sequence[StatedInput], dims: Mapping[str, Dim]
) -> Guesses:
    """Return guesses that the model itself states, with what the user states instead.

    The dims that an input shares with others have the user's names in these, too.
    """
    own = {one.name: one for one in guesses.inputs}
    names: dict[str, str] = {}
    for entry in stated:
        before = own.get(entry.name, Guess(entry.name, DType.FLOAT32, ()))
        guess, constants = _as_stated(before, {}, entry)
        if entry.dtype is None and before.kind in KEPT:
            guess = replace(guess, dtype=before.dtype)
        guesses = _placed(guesses, guess, constants, entry, dims)
        if len(before.axes) == len(guess.axes):
            names.update(zip(before.axes, guess.axes, strict=True))
    for one in guesses.inputs:
        if one.name not in guesses.said:
            axes = tuple(names.get(axis, axis) for axis in one.axes)
            guesses = guesses.with_input(replace(one, axes=axes))
    return guesses


def _guess(
    name: str, parameter: Parameter | None, layers: Sequence[Layer], floating: DType
) -> tuple[Guess, dict[str, int]]:
    annotation = parameter.annotation if parameter is not None else Parameter.empty
    kind = _PYTHON.get(annotation)
    if kind is not None:
        return Guess(name, NUMBER_DTYPES[kind], (), kind), {}
    layer = _layer_for(name, layers, floating)
    guess, constants = from_layer(Guess(name, floating, ()), layer)
    if _MASK.search(name):
        guess = replace(guess, kind=mask_kind(name), range=None)
    if _is_list(annotation):
        guess = replace(guess, kind=InputKind.SEQUENCE, length=_LENGTH)
    return guess, constants


def from_layer(guess: Guess, layer: Layer) -> tuple[Guess, dict[str, int]]:
    """Return the guess that an input is passed to a layer as it is, and the sizes it fixes."""
    axes, constants = new_axes(guess.name, layer.rank, dict(layer.constants))
    limits = (0.0, float(min(layer.rows - 1, 1))) if layer.rows else None
    return replace(as_dtype(guess, layer.dtype, limits), axes=axes), constants


def as_dtype(guess: Guess, dtype: DType, limits: tuple[float, float] | None) -> Guess:
    """Return the guess with another dtype and range, but for what the user states."""
    if "dtype" in guess.stated:
        return guess
    return replace(guess, dtype=dtype, range=guess.range if "range" in guess.stated else limits)


def is_mask_name(name: str) -> bool:
    """Return whether an input of this name is a mask: `attention_mask`, `padding`."""
    return bool(_MASK.search(name))


def mask_kind(name: str) -> InputKind:
    """Return the kind of a mask: true marks padding, or what is attended to."""
    return InputKind.PADDING_MASK if _PADDING.search(name) else InputKind.ATTENTION_MASK


def _layer_for(name: str, layers: Sequence[Layer], floating: DType) -> Layer:
    if _MASK.search(name):
        # Those of Hugging Face, and of who writes like them, hold 0 and 1.
        return Layer(2, (), DType.INT64 if "attention" in name else DType.BOOL)
    if _LENGTHS.search(name.lower()):
        return Layer(1, (), DType.INT64)
    integers = [layer for layer in layers if layer.rows is not None]
    if _INTEGERS.search(name.lower()):
        return integers[0] if integers else Layer(2, (), DType.INT64)
    if not layers:
        return Layer(2, (), floating)
    return layers[0]


def _is_list(annotation: Any) -> bool:  # noqa: ANN401 - any annotation
    return get_origin(annotation) is list and get_args(annotation) == (torch.Tensor,)


def _as_stated(
    guess: Guess, constants: dict[str, int], stated: StatedInput
) -> tuple[Guess, dict[str, int]]:
    """Return the guess with what the user states."""
    if stated.kind in KEPT:
        guess, constants = from_layer(guess, Layer(2, (), DType.BOOL))
    if stated.kind is not None:
        parts = {"kind"} if stated.kind in KEPT else {"kind", "dtype"}
        guess = replace(guess, kind=stated.kind, stated=guess.stated | parts)
    if stated.dtype is not None:
        guess = replace(guess, dtype=stated.dtype, range=None, stated=guess.stated | {"dtype"})
    if stated.range is not None:
        guess = replace(guess, range=stated.range, stated=guess.stated | {"range"})
    if stated.shape is None:
        return guess, constants
    axes = tuple(
        f"{guess.name}.{axis}" if isinstance(size, int) else size
        for axis, size in enumerate(stated.shape)
    )
    fixed = {axes[axis]: size for axis, size in enumerate(stated.shape) if isinstance(size, int)}
    return replace(guess, axes=axes), fixed


def _with_stated_sizes(guesses: Guesses, axes: Sequence[str], dims: Mapping[str, Dim]) -> Guesses:
    """Return the guesses with a size from the range of each dim that the user declares."""
    for name in (dim for axis in axes for dim in dims_in(axis)):
        dim = dims.get(name)
        if dim is not None and name not in guesses.sizes:
            size = min(max(dim.min, unused_size(guesses.sizes.values())), dim.max)
            guesses = guesses.with_known(name, size)
    return guesses
