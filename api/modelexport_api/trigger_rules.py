"""Cross-field rules of triggers, each as CEL and as Python (see `rules`)."""

from __future__ import annotations

from modelexport_api import GROUP
from modelexport_api.rule import Rule, find_violations
from modelexport_api.trigger import ModelExportTriggerSpec, Operator, TriggerSource

WELL_KNOWN: dict[str, str] = {
    "Job": "batch/v1",
    "TrainJob": "trainer.kubeflow.org/v1alpha1",
    "PyTorchJob": "kubeflow.org/v1",
    "RayJob": "ray.io/v1",
    "JobSet": "jobset.x-k8s.io/v1alpha2",
}
"""Kinds for which the operator knows when they succeeded, and the supported version."""

_NAMES = ", ".join(WELL_KNOWN)
_LIST = ", ".join(f"'{kind}'" for kind in WELL_KNOWN)
_PAIRS = ", ".join(f"'{version} {kind}'" for kind, version in WELL_KNOWN.items())
_NEEDS_VALUES = (Operator.IN, Operator.NOT_IN)


def version_of(source: TriggerSource) -> str | None:
    """Return the version to watch; None if it is missing and the kind is not well known."""
    return source.api_version or WELL_KNOWN.get(source.kind)


def _is_known(spec: ModelExportTriggerSpec) -> bool:
    source = spec.source
    return source.kind in WELL_KNOWN and version_of(source) == WELL_KNOWN[source.kind]


TRIGGER_RULES: tuple[Rule[ModelExportTriggerSpec], ...] = (
    Rule(
        path=("source",),
        cel=f"has(self.apiVersion) || self.kind in [{_LIST}]",
        message=f"apiVersion is required for kinds other than {_NAMES}",
        holds=lambda spec: spec.source.api_version is not None or spec.source.kind in WELL_KNOWN,
    ),
    Rule(
        path=("source",),
        cel=f"has(self.success) || !has(self.apiVersion) || "
        f"(self.apiVersion + ' ' + self.kind) in [{_PAIRS}]",
        message="success is required for this kind and version: a condition, or a field and its "
        "value, that means success",
        holds=lambda spec: (
            spec.source.success is not None or spec.source.api_version is None or _is_known(spec)
        ),
    ),
    Rule(
        path=("source", "success"),
        cel="has(self.condition) != has(self.field)",
        message="set exactly one of condition and field",
        holds=lambda spec: (
            spec.source.success is None
            or (spec.source.success.condition is None) != (spec.source.success.field is None)
        ),
    ),
    Rule(
        path=("source", "selector", "matchExpressions"),
        cel="self.all(e, (e.operator in ['In', 'NotIn']) == (has(e.values) && size(e.values) > 0))",
        message="values are required for operators In and NotIn, and not allowed for Exists and "
        "DoesNotExist",
        holds=lambda spec: all(
            (entry.operator in _NEEDS_VALUES) == bool(entry.values)
            for entry in spec.source.selector.match_expressions
        ),
    ),
    Rule(
        path=("template", "metadata"),
        cel=f"(!has(self.labels) || self.labels.all(k, !k.startsWith('{GROUP}/'))) && "
        f"(!has(self.annotations) || self.annotations.all(k, !k.startsWith('{GROUP}/')))",
        message=f"labels and annotations with the prefix {GROUP}/ are reserved for the operator",
        holds=lambda spec: (
            not any(
                key.startswith(f"{GROUP}/")
                for key in (*spec.template.metadata.labels, *spec.template.metadata.annotations)
            )
        ),
    ),
)


def violations(spec: ModelExportTriggerSpec) -> list[str]:
    """Return a line `field: message` for each rule that the spec violates."""
    return find_violations(TRIGGER_RULES, spec)
