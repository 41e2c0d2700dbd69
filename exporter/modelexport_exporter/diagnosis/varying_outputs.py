"""Whether forward returns other outputs for other inputs: seen by calls, after an export failed."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping

import torch

from modelexport_exporter.call import BoundInputs
from modelexport_exporter.call.module_state import ModuleState
from modelexport_exporter.call.same_outputs import SameOutputs
from modelexport_exporter.core.dims import describe_sizes
from modelexport_exporter.core.errors import VaryingOutputs

_SECONDS = 2.0
"""For all calls: a slow model is called less often."""
_SEEDS = 4


def find_varying_outputs(
    model: torch.nn.Module, bound_inputs: BoundInputs
) -> VaryingOutputs | None:
    """Return the failure of outputs that are not there in each call; None if none was seen.

    The state of the model is as before. Never raises.
    """
    before = ModuleState(model)
    until = time.monotonic() + _SECONDS
    outputs = SameOutputs()
    try:
        for sizes, seed in _examples(bound_inputs):
            if time.monotonic() > until:
                break
            args, kwargs = bound_inputs.call.example(sizes, seed)
            where = f"{describe_sizes(sizes)} (seed {seed})"
            with torch.no_grad(), torch.random.fork_rng(devices=[]):
                torch.manual_seed(seed)
                outputs.check(model(*args, **kwargs), where)
    except VaryingOutputs as found:
        return found
    except Exception:  # noqa: BLE001 - an explanation never takes the place of the failure
        return None
    finally:
        before.restore(model)
    return None


def _examples(bound_inputs: BoundInputs) -> Iterator[tuple[Mapping[str, int], int]]:
    """Yield sizes and seeds, those that differ most first."""
    sizes = bound_inputs.sizes
    for seed in range(_SEEDS):
        yield sizes.captured, seed
        yield sizes.lowest, seed
        yield sizes.between, seed
