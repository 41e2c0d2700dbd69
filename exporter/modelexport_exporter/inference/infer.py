"""Finds inputs and dims of a loaded model: what it states of itself, then by trial runs."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import torch

from modelexport_api.spec import DType, InputKind
from modelexport_api.status import Stage
from modelexport_exporter.call.call import Arguments
from modelexport_exporter.call.signature import Signature, signature_of
from modelexport_exporter.call.tensors import TORCH_DTYPES
from modelexport_exporter.checkpoint.load import LoadedModel
from modelexport_exporter.core.proposal import Proposal, Stated
from modelexport_exporter.core.types import ReportProgress
from modelexport_exporter.core.user_frame import user_frame
from modelexport_exporter.inference import failures
from modelexport_exporter.inference.assemble import Range, assemble, unused_dims
from modelexport_exporter.inference.example import Example, example_of
from modelexport_exporter.inference.extents import (
    Extents,
    find_extents,
    not_varied,
    with_common_sizes,
)
from modelexport_exporter.inference.first_guess import first_guesses, is_mask_name, with_stated
from modelexport_exporter.inference.guess import Guess, Guesses
from modelexport_exporter.inference.largest import accepted_range
from modelexport_exporter.inference.layers import floating_dtype, layers_of
from modelexport_exporter.inference.program import program_extents
from modelexport_exporter.inference.repairs import Known
from modelexport_exporter.inference.search import Found, search
from modelexport_exporter.inference.transformers_inputs import (
    is_from_transformers,
    transformers_guess,
    without_decoder,
)
from modelexport_exporter.inference.trial import Trial, by_parameters

SEARCH_SECONDS = 60.0
"""For a first call that forward accepts."""
EXTENT_SECONDS = 60.0
"""For the sizes and values that it accepts besides."""
_INTEGERS = frozenset({DType.INT64, DType.INT32, DType.INT16, DType.INT8, DType.UINT8})
_MOST_SETTINGS = 24


def infer(
    loaded: LoadedModel,
    stated: Stated,
    checkpoint: Path,
    progress: ReportProgress,
    arguments: Arguments | None = None,
    *,
    code_dir: Path | None = None,
) -> Proposal:
    """Return the inputs and dims of a model.

    Raises ExportFailure if no call is accepted and the user does not state all of it.
    `arguments`: the user's own example of forward's `(args, kwargs)`.
    """
    module = loaded.module
    signature = signature_of(module)
    trial = Trial(module, by_parameters(signature.parameters))
    example = None
    progress(Stage.LOAD, 1.0, "running the model to find its inputs")
    if loaded.program is not None:
        trial = Trial(module, by_parameters({}))
        extents, origin, runs = program_extents(loaded.program), "the exported program states it", 0
    elif arguments is not None:
        example = example_of(arguments, signature)
        trial = Trial(module, example.arguments)
        extents, runs = _around_example(trial, arguments, example, signature, stated), 2
        origin = "the example inputs"
    else:
        extents, origin, runs = _by_trials(
            trial, module, signature, stated, checkpoint, code_dir=code_dir
        )
    ranges = _ranges(trial, extents.guesses, stated) if extents.accepted else {}
    found = assemble(extents, ranges, stated, origin)
    unused = unused_dims(found, stated)
    if unused:
        raise failures.no_such_dim(unused, found.dims, extents.guesses)
    return Proposal(
        inputs=found.inputs,
        dims=found.dims,
        inferred=found.inferred,
        format=loaded.format,
        model=getattr(module, "original_name", type(module).__name__),
        parameters=sum(parameter.numel() for parameter in module.parameters()),
        runs=runs,
        keeps_example=example is not None and not example.is_plain,
    )


def _around_example(
    trial: Trial, arguments: Arguments, example: Example, signature: Signature, stated: Stated
) -> Extents:
    guesses = with_stated(example.guesses, stated.inputs, stated.dims or {})
    own = Trial(trial.module, lambda _values: arguments).refused(guesses)
    if own is not None:
        raise failures.example_refused(signature, example.guesses, own)
    refusal = trial.refused(guesses)
    if refusal is not None:
        raise failures.values_refused(signature, guesses, refusal)
    return find_extents(_limited(trial), guesses, _kept(guesses, stated))


def _by_trials(
    trial: Trial,
    module: torch.nn.Module,
    signature: Signature,
    stated: Stated,
    checkpoint: Path,
    *,
    code_dir: Path | None,
) -> tuple[Extents, str, int]:
    floating = floating_dtype(module)
    known = Known(layers_of(module, floating), floating, _settings(module))
    if is_from_transformers(module):
        guesses = transformers_guess(module, checkpoint, floating)
        guesses = with_stated(guesses, stated.inputs, stated.dims or {})
        origin = "config.json and a trial run"
        found = _first_accepted(trial, (guesses, without_decoder(guesses)))
        if found.refusal is None:
            found = replace(found, guesses=_without_unread_masks(trial, found.guesses))
    else:
        guesses = first_guesses(signature, stated.inputs, stated.dims or {}, known.layers, floating)
        found = search(guesses, trial.refused, known, time.monotonic() + SEARCH_SECONDS)
        noun = "run" if found.runs == 1 else "runs"
        origin = f"forward's signature and {found.runs} trial {noun}"
    if found.refusal is not None:
        if not guesses.are_stated:
            line = user_frame(trial.error(found.guesses) or Exception(), code_dir)
            raise failures.none_accepted(signature, found, line)
        # The export refuses them, names the line and finds what forward accepts near them.
        return not_varied(guesses, _kept(guesses, stated)), "the command", found.runs
    accepts, guesses = _limited(trial), found.guesses
    if found.runs > 1:
        guesses = with_common_sizes(accepts, guesses)
    kept = guesses.known if is_from_transformers(module) else _kept(guesses, stated)
    return find_extents(accepts, guesses, kept), origin, found.runs


def _without_unread_masks(trial: Trial, guesses: Guesses) -> Guesses:
    """Return the inputs without a mask that forward accepts and does not read, as RWKV's."""
    kept = tuple(
        one
        for one in guesses.inputs
        if not is_mask_name(one.name) or one.name in guesses.said or trial.reads(guesses, one.name)
    )
    return replace(guesses, inputs=kept)


def _kept(guesses: Guesses, stated: Stated) -> frozenset[str]:
    """Return the axes whose sizes the user states."""
    said = {axis for one in guesses.inputs if one.name in guesses.said for axis in one.axes}
    return frozenset((said & guesses.known) | {*(stated.dims or {})})


def _limited(trial: Trial) -> Callable[[Guesses], bool]:
    until = time.monotonic() + EXTENT_SECONDS

    def accepts(guesses: Guesses) -> bool:
        if time.monotonic() > until:
            raise TimeoutError
        return trial.accepts(guesses)

    return accepts


def _first_accepted(trial: Trial, candidates: Sequence[Guesses]) -> Found:
    """Return the first guess that is accepted, else the first with what refuses it."""
    refusals = []
    for runs, guesses in enumerate(candidates, 1):
        refusal = trial.refused(guesses)
        if refusal is None:
            return Found(guesses, None, runs)
        refusals.append(refusal)
    return Found(candidates[0], refusals[0], len(candidates))


def _ranges(trial: Trial, guesses: Guesses, stated: Stated) -> Mapping[str, Range]:
    """Return the range of each input of integers that the user does not state one of."""
    own = {one.name for one in stated.inputs if one.range is not None}
    found = {}
    for one in guesses.inputs:
        if one.dtype not in _INTEGERS or one.kind is not InputKind.TENSOR or one.name in own:
            continue
        found[one.name] = _range(trial, guesses, one)
    return found


def _range(trial: Trial, guesses: Guesses, guess: Guess) -> Range:
    def takes(number: int) -> bool:
        return trial.accepts(guesses, {guess.name: float(number)})

    low, high, source = accepted_range(takes, torch.iinfo(TORCH_DTYPES[guess.dtype]).max)
    return Range(float(low), float(high), source)


def _settings(module: torch.nn.Module) -> tuple[int, ...]:
    """Return the integers among the attributes of a module and its parts, the outermost first."""
    found: dict[int, None] = {}
    for part in module.modules():
        if type(part).__module__.startswith("torch."):
            continue
        for value in vars(part).values():
            for number in value if isinstance(value, tuple | list) else (value,):
                if type(number) is int and number > 0:
                    found[number] = None
    return tuple(found)[:_MOST_SETTINGS]
