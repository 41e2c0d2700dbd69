"""Which objects a trigger selects: as a selector for the API server, and in Python for the CLI.

Jobs of ModelExports are never selected: an export would trigger exports without end.
"""

from __future__ import annotations

from collections.abc import Mapping

from modelexport_api.trigger import LabelExpression, Operator, TriggerSource
from modelexport_api.trigger_rules import WELL_KNOWN, version_of
from modelexport_operator import names


def label_selector(source: TriggerSource) -> str:
    """Return the label selector for the API server."""
    equal = [f"{key}={value}" for key, value in source.selector.match_labels.items()]
    others = [_requirement(expression) for expression in source.selector.match_expressions]
    return ",".join([*equal, *others, *([f"!{names.UID_LABEL}"] if _is_job(source) else [])])


def selects(source: TriggerSource, labels: Mapping[str, str]) -> bool:
    """Return whether an object with these labels is selected."""
    wanted = source.selector.match_labels.items()
    return (
        all(labels.get(key) == value for key, value in wanted)
        and all(_matches(entry, labels) for entry in source.selector.match_expressions)
        and not (_is_job(source) and names.UID_LABEL in labels)
    )


def _is_job(source: TriggerSource) -> bool:
    return (version_of(source), source.kind) == (WELL_KNOWN["Job"], "Job")


def _requirement(expression: LabelExpression) -> str:
    values = ",".join(expression.values or [])
    match expression.operator:
        case Operator.IN:
            return f"{expression.key} in ({values})"
        case Operator.NOT_IN:
            return f"{expression.key} notin ({values})"
        case Operator.EXISTS:
            return expression.key
        case Operator.DOES_NOT_EXIST:
            return f"!{expression.key}"


def _matches(expression: LabelExpression, labels: Mapping[str, str]) -> bool:
    present = expression.key in labels
    listed = labels.get(expression.key) in (expression.values or [])
    match expression.operator:
        case Operator.IN:
            return present and listed
        case Operator.NOT_IN:
            return not listed
        case Operator.EXISTS:
            return present
        case Operator.DOES_NOT_EXIST:
            return not present
