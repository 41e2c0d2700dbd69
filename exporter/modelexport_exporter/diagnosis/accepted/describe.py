"""Says what forward accepts, in the failure of a call that it refused: by calls of the model."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Mapping

import torch

from modelexport_api.status import FAILURE_HINT_LIMIT, FAILURE_MESSAGE_LIMIT
from modelexport_exporter.call import BoundInputs
from modelexport_exporter.call.tensors import to_array, to_tensor
from modelexport_exporter.core.dims import sizes_of
from modelexport_exporter.core.errors import ExportFailure, RefusedCall
from modelexport_exporter.diagnosis.accepted.dtypes import limits_of_dtypes
from modelexport_exporter.diagnosis.accepted.limits import Limit
from modelexport_exporter.diagnosis.accepted.multiples import Shapes, limits_of_multiples
from modelexport_exporter.diagnosis.accepted.orders import limits_of_order
from modelexport_exporter.diagnosis.accepted.ranks import limits_of_ranks
from modelexport_exporter.diagnosis.accepted.sizes import limits_of_sizes
from modelexport_exporter.diagnosis.accepted.values import Arrays, limits_of_values
from modelexport_exporter.diagnosis.accepted.weight_dtypes import limits_of_weights

_SECONDS = 30.0
"""For the whole search; a model that takes longer is refused without more words."""
_ROOM = 300
_REPEATED = 3
"""Times that a call is made again, and other values are drawn, before sizes are held to blame."""


class _OutOfTimeError(Exception):
    """The search takes too long."""


def with_accepted_calls(
    failure: ExportFailure,
    refused: RefusedCall,
    model: torch.nn.Module,
    bound_inputs: BoundInputs,
) -> ExportFailure:
    """Return the failure, with what forward accepts where that is found."""
    limits = _limits(refused, model, bound_inputs)
    if not limits:
        return failure
    text = "; ".join(limit.condition for limit in limits)[:_ROOM]
    described = copy.copy(failure)
    found = failure.message[: FAILURE_MESSAGE_LIMIT - len(text) - 30].rstrip(".")
    described.message = f"{found}. Calls succeed with {text}"
    described.hint = " ".join(limit.advice for limit in limits)[:FAILURE_HINT_LIMIT]
    described.args = (described.reason, described.message, described.hint)
    return described


def _limits(refused: RefusedCall, model: torch.nn.Module, bound_inputs: BoundInputs) -> list[Limit]:
    """Return what accepted calls have in common: of values, else of sizes. Never raises.

    Other sizes have other values, which may be accepted by chance: so values come first. Dtypes
    come before sizes, which cannot help where dtypes differ, and ranks at last: broadcasting
    accepts some by chance.
    """
    call, spec = bound_inputs.call, bound_inputs.spec
    takes = _limited(refused.call)

    def accepts_sizes(sizes: Mapping[str, int]) -> bool:
        return takes(call.example_values(sizes))

    def accepts_arrays(arrays: Arrays) -> bool:
        return takes({name: to_tensor(array) for name, array in arrays.items()})

    def accepts_shapes(shapes: Shapes, sizes: Mapping[str, int]) -> bool:
        return takes(call.with_shapes(shapes).example_values(sizes))

    def is_accepted_by(other: torch.nn.Module) -> bool:
        args, kwargs = call.arguments(refused.values)
        return _limited(lambda _values: other(*args, **kwargs))({})

    arrays = {name: to_array(value) for name, value in refused.values.items()}
    ranges = {entry.name: entry.range for entry in call.inputs if entry.range}
    try:
        sizes = _sizes_of(refused.values, bound_inputs)
        if any(takes(refused.values) for _ in range(_REPEATED)):
            return []  # it depends on more than its inputs
        found = (
            limits_of_values(accepts_arrays, arrays, ranges)
            or limits_of_weights(model, is_accepted_by)
            or limits_of_dtypes(takes, refused.values)
        )
        others = (call.example_values(sizes, seed) for seed in range(_REPEATED))
        if found or any(map(takes, others)):
            return found  # other values of the same sizes are accepted
        if order := limits_of_order(takes, refused.values):
            return order
        shapes = {} if call.sampler else {entry.name: entry.shape for entry in call.inputs}
        of_sizes = sizes and (
            limits_of_sizes(accepts_sizes, spec.dims, sizes)
            or limits_of_multiples(accepts_shapes, shapes, spec.dims, sizes)
        )
        return of_sizes or limits_of_ranks(accepts_shapes, shapes, spec.dims, sizes)
    except Exception:  # noqa: BLE001 - an explanation never takes the place of the failure
        return []


def _limited(call: Callable[[Mapping[str, torch.Tensor]], object]) -> Callable[..., bool]:
    until = time.monotonic() + _SECONDS

    def takes(values: Mapping[str, torch.Tensor]) -> bool:
        if time.monotonic() > until:
            raise _OutOfTimeError
        try:
            with torch.no_grad():
                call(values)
        except Exception:  # noqa: BLE001 - whatever user code raises is a refusal
            return False
        return True

    return takes


def _sizes_of(values: Mapping[str, torch.Tensor], bound_inputs: BoundInputs) -> dict[str, int]:
    """Return the sizes of the declared dims in these inputs."""
    arrays = {name: to_array(value) for name, value in values.items()}
    return sizes_of(bound_inputs.call.inputs, arrays)
