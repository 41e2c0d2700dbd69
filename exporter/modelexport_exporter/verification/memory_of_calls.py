"""Whether the model remembers its earlier calls: a file has no memory, and answers as the first."""

from __future__ import annotations

import torch

from modelexport_api.reasons import Reason
from modelexport_api.status import Stage
from modelexport_exporter.core.errors import NotDeterministic
from modelexport_exporter.verification.reference_model import ReferenceModel

_LISTED = 3
_RTOL, _ATOL = 1e-3, 1e-6


def check_no_memory(model: ReferenceModel) -> None:
    """Raise NotDeterministic if calls changed the module, and it then answers otherwise.

    Caches, counters and lazily made tables change it as well; what it returns stays the same.
    Before the first comparison: runs in other arithmetic would leave other tensors on it.
    """
    try:
        if not model.reference.early:
            call_at_seed(model, 0)
        changed = model.before.changed(model.module)
        if not changed:
            return
        alone, after_another = _call_alone(model), _call_after_another(model)
        if all_agree(alone, after_another):
            return
    except Exception:  # noqa: BLE001 - what the user's code raises is reported where it is compared
        return
    kept = ", ".join(changed[:_LISTED]) + (" and more" if len(changed) > _LISTED else "")
    raise NotDeterministic(
        Reason.VERIFICATION_FAILED,
        f"the model remembers its earlier calls: forward changes its {kept}, and returns other "
        "outputs for the same inputs after another call. A file has no memory between runs",
        _way_out(changed),
        stage=Stage.VERIFY,
    )


def _call_alone(model: ReferenceModel) -> list[torch.Tensor]:
    model.before.restore(model.module)
    return call_at_seed(model, 1)


def _call_after_another(model: ReferenceModel) -> list[torch.Tensor]:
    model.before.restore(model.module)
    call_at_seed(model, 0)
    return call_at_seed(model, 1)


def call_at_seed(model: ReferenceModel, seed: int) -> list[torch.Tensor]:
    """Return the outputs for drawn inputs at the sizes of the capture."""
    bound, device = model.bound_inputs, model.reference.device
    values = bound.call.example_values(bound.sizes.captured, seed)
    with torch.no_grad(), torch.random.fork_rng():
        torch.manual_seed(seed)  # random numbers are no memory
        outputs = model.reference.call({name: one.to(device) for name, one in values.items()})
    return [leaf.clone() for leaf in outputs]


def _way_out(changed: list[str]) -> str:
    buffers = [name.removeprefix("buffer ") for name in changed if name.startswith("buffer ")]
    if len(buffers) < len(changed):
        return "What a model keeps between calls must be an input and an output of its forward."
    listed = ", ".join(buffers)
    return f"Set model.state: [{listed}], which makes each an input and an output of the file."


def all_agree(some: list[torch.Tensor], others: list[torch.Tensor]) -> bool:
    """Return whether two calls returned the same but for rounding."""
    return len(some) == len(others) and all(map(_agree, some, others))


def _agree(one: torch.Tensor, other: torch.Tensor) -> bool:
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    if not one.is_floating_point() and not one.is_complex():
        return torch.equal(one, other)
    return torch.allclose(one, other, rtol=_RTOL, atol=_ATOL, equal_nan=True)
