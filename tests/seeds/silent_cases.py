"""Cases that were once published wrong in silence: now right, or refused."""

from __future__ import annotations

from typing import Any

from modelexport_api.reasons import Reason
from seeds.case import Case, array, refused, tensor

N = {"n": (1, 120)}
X = tensor("x", "n", 4)
ANY_REFUSAL = refused(
    Reason.CAPTURE_FAILED,
    Reason.VERIFICATION_FAILED,
    Reason.CONVERSION_FAILED,
    Reason.DYNAMIC_DIM_SPECIALIZED,
    Reason.UNSUPPORTED_OPERATOR,
    Reason.RUNTIME_FAILED,
    Reason.CONTRACT_VIOLATED,
)


def silent(row: str, name: str, model: str, *inputs: Any, **options: Any) -> Case:  # noqa: ANN401
    """Return a case: right, or refused."""
    given = inputs or (X,)
    dims = {k: v for k, v in N.items() if any(k in entry["shape"] for entry in given)}
    return Case(row, name, model, given, **{"dims": dims, "edges": (), **options})


def feed(*rows: Any, dtype: str = "float32", name: str = "x") -> dict[str, Any]:  # noqa: ANN401
    return {name: array(list(rows), dtype=dtype)}
