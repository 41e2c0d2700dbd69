"""Which calls count: what eager takes and returns."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest import mock

import torch

from operators import module as modules
from operators.entries import Call
from operators.growing import dynamic_dim
from operators.results import Outcome

UNINITIALISED = frozenset(
    {"empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided"}
)
"""Entries that return memory as it is."""


def examine(call: Call, seeds: Sequence[int]) -> Call | Outcome:
    """Return the call as it is exported, or why it cannot be exported by anybody.

    A call with a dynamic dim takes it with the inputs of all these seeds.
    """
    if call.case.name in UNINITIALISED:
        return Outcome.RANDOM
    with TemporaryDirectory(prefix="operator-") as place:
        model = modules.write([call], Path(place) / "model.py")
    outcome = _outcome(call, model)
    if isinstance(outcome, Outcome) or not call.case.dynamic:
        return outcome
    dynamic = dynamic_dim([modules.redrawn(call, seed).tensors for seed in seeds], model)
    return replace(outcome, dynamic=dynamic) if dynamic else Outcome.NO_DIM


def _outcome(call: Call, model: torch.nn.Module) -> Call | Outcome:
    """Return why a call does not count, or the call and whether it returns complex numbers."""
    given = modules.feed([call]).values()
    torch.manual_seed(1)
    before = torch.get_rng_state()
    # Entries of random operators set a seed themselves, and restore the generator.
    with (
        mock.patch.object(torch, "manual_seed") as seeded,
        torch.no_grad(),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        try:
            leaves = torch.utils._pytree.tree_leaves(model(*given))
        except (RuntimeError, AssertionError):
            # as_strided reads beyond the elements of a copy; the jiterator needs a GPU.
            return Outcome.NO_EAGER
    if not leaves or not all(map(_is_tensor, leaves)):
        return Outcome.NO_TENSOR
    if all(leaf.isnan().all() for leaf in leaves):
        return Outcome.NO_ELEMENTS
    if seeded.called or not torch.equal(before, torch.get_rng_state()):
        return Outcome.RANDOM
    return replace(call, complex=any(leaf.is_complex() for leaf in leaves))


def _is_tensor(value: object) -> bool:
    return (
        isinstance(value, torch.Tensor) and value.layout is torch.strided and not value.is_quantized
    )
