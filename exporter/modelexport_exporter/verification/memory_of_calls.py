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
    """
    changed = model.before.changed(model.module)
    if not changed:
        return
    call, sizes = model.bound_inputs.call, model.bound_inputs.sizes.captured
    values = {
        name: value.to(model.reference.device) for name, value in call.example_values(sizes).items()
    }
    try:
        model.before.restore(model.module)
        with torch.no_grad():
            first = [leaf.clone() for leaf in model.reference.call(values)]
            second = model.reference.call(values)
    except Exception:  # noqa: BLE001 - what the user's code raises is reported where it is compared
        return
    if len(first) == len(second) and all(map(_agree, first, second)):
        return
    kept = ", ".join(changed[:_LISTED]) + (" and more" if len(changed) > _LISTED else "")
    raise NotDeterministic(
        Reason.VERIFICATION_FAILED,
        f"the model remembers its earlier calls: forward changes its {kept}, and of two calls with "
        "the same inputs the second returns other outputs. A file has no memory between runs",
        "What a model keeps between calls is an input and an output of its file.",
        stage=Stage.VERIFY,
    )


def _agree(one: torch.Tensor, other: torch.Tensor) -> bool:
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    if not one.is_floating_point() and not one.is_complex():
        return torch.equal(one, other)
    return torch.allclose(one, other, rtol=_RTOL, atol=_ATOL, equal_nan=True)
