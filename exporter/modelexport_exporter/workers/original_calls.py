"""What the judge may ask the process of the original model, with the type of each answer."""

from __future__ import annotations

from typing import Any

from modelexport_exporter.core.blame import Blame
from modelexport_exporter.core.carried import Carried
from modelexport_exporter.core.outcome import NotCompared
from modelexport_exporter.core.pitfall import Pitfall
from modelexport_exporter.sampling.lookups import Lookups
from modelexport_exporter.verification.numerics.arithmetic import Arithmetic
from modelexport_exporter.verification.original import Facts
from modelexport_exporter.verification.seeking.found import Found
from modelexport_exporter.verification.treatment_of_nan import TreatmentOfNan

Arrays = dict[str, Carried]
Outputs = list[Carried]

ANSWERS: dict[str, Any] = {
    "facts": Facts,
    "draw": Arrays,
    "lookups": tuple[Lookups, ...],
    "weights": Arrays,
    "begin": type(None),
    "check_repeatable": type(None),
    "early_outputs": Outputs | None,
    "run": Outputs,
    "rank_stably": type(None),
    "accepts": bool,
    "treatment_of_nan": TreatmentOfNan,
    "computed_in": list[Arithmetic],
    "perturbed": Outputs | None,
    "with_kernel_errors": Outputs | None,
    "prepare_shapes": type(None),
    "shapes_at": list[tuple[int, ...]] | None,
    "seek": type(None),
    "not_compared": tuple[NotCompared, ...],
    "coverage": list[str],
    "pitfalls": tuple[Pitfall, ...],
    "blame": Blame,
    "explained": type(None),
}

COMPARE, SIDES_MISSING, SIDES_OPEN, SIDES_REACH = "compare", "missing", "open", "reach"
"""What it may ask in return, while it seeks."""
QUESTIONS: dict[str, Any] = {
    COMPARE: Found,
    SIDES_MISSING: type(None),
    SIDES_OPEN: type(None),
    SIDES_REACH: Arrays,
}
