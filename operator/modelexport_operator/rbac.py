"""The rights that the operator needs, and no more; the chart's roles are tested against them."""

from __future__ import annotations

from modelexport_api import GROUP, PLURAL
from modelexport_api.trigger import TRIGGER_PLURAL
from modelexport_operator.triggers.kinds import TriggerSettings

Rule = dict[str, list[str]]

CLUSTER_RULES: tuple[Rule, ...] = (
    {
        "apiGroups": [GROUP],
        "resources": [PLURAL],
        "verbs": ["get", "list", "watch", "create", "delete"],
    },
    {
        "apiGroups": [GROUP],
        "resources": [f"{PLURAL}/status", f"{TRIGGER_PLURAL}/status"],
        "verbs": ["patch"],
    },
    {"apiGroups": [GROUP], "resources": [TRIGGER_PLURAL], "verbs": ["get", "list", "watch"]},
    {
        "apiGroups": ["batch"],
        "resources": ["jobs"],
        "verbs": ["get", "list", "watch", "create", "patch", "delete"],
    },
    {"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]},
    {"apiGroups": [""], "resources": ["pods/log"], "verbs": ["get"]},
    # list: why the Job controller could not create a pod is told by an Event and nowhere else.
    {"apiGroups": ["events.k8s.io"], "resources": ["events"], "verbs": ["create", "list"]},
)
"""In every watched namespace; as a ClusterRole when all are watched."""


def trigger_rules(settings: TriggerSettings) -> tuple[Rule, ...]:
    """Return the rights on the kinds whose completion may trigger an export, one rule a kind."""
    verbs = ["list", "watch"]
    return tuple(
        {"apiGroups": [kind.group], "resources": [kind.resource], "verbs": verbs}
        for kind in settings.watched()
    )


def lease_rules(name: str) -> tuple[Rule, ...]:
    """Return the rights in the operator's own namespace: leader election."""
    group = ["coordination.k8s.io"]
    return (
        {"apiGroups": group, "resources": ["leases"], "verbs": ["create"]},
        {
            "apiGroups": group,
            "resources": ["leases"],
            "resourceNames": [name],
            "verbs": ["get", "update"],
        },
    )
