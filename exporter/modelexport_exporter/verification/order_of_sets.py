"""Whether what the model computes follows the order of a set, which differs between processes."""

from __future__ import annotations

from modelexport_api.reasons import Reason
from modelexport_api.status import Stage
from modelexport_exporter.checkpoint.load import silent
from modelexport_exporter.core.errors import NotDeterministic
from modelexport_exporter.core.types import ExportTask
from modelexport_exporter.user_code import set_orders
from modelexport_exporter.verification.memory_of_calls import all_agree, call_at_seed
from modelexport_exporter.verification.reference_model import ReferenceModel, load_reference_model

_LISTED = 3


def check_order_of_sets(task: ExportTask, model: ReferenceModel) -> None:
    """Raise NotDeterministic if the model answers otherwise with its sets in the opposite order.

    It is loaded a second time for that, if its code went through such a set.
    """
    lines = set_orders.lines_seen(task.code_dir)
    if not lines:
        return
    try:
        outputs = call_at_seed(model, 1)
    except Exception:  # noqa: BLE001 - what the user's code raises is reported where it is compared
        return
    try:
        with set_orders.opposite():
            other = call_at_seed(load_reference_model(task, silent), 1)
    except Exception:  # noqa: BLE001 - the weights may not fit, or forward may fail
        other = []
    if all_agree(outputs, other):
        return
    raise NotDeterministic(
        Reason.VERIFICATION_FAILED,
        f"the model follows the order of a set ({', '.join(lines[:_LISTED])}), which differs "
        "between processes: it computes something else when its sets have the opposite order",
        "Go through sorted(…) of the set, or keep a list or a tuple.",
        stage=Stage.VERIFY,
        sources=lines[:1],
    )
