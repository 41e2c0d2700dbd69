"""The rights that the operator needs, and no more; the chart's roles are tested against them."""

from __future__ import annotations

from modelexport_api import GROUP, PLURAL

Rule = dict[str, list[str]]

CLUSTER_RULES: tuple[Rule, ...] = (
    {"apiGroups": [GROUP], "resources": [PLURAL], "verbs": ["get", "list", "watch"]},
    {"apiGroups": [GROUP], "resources": [f"{PLURAL}/status"], "verbs": ["patch"]},
    {
        "apiGroups": ["batch"],
        "resources": ["jobs"],
        "verbs": ["get", "list", "watch", "create", "patch"],
    },
    {"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]},
    {"apiGroups": [""], "resources": ["pods/log"], "verbs": ["get"]},
    # list: why the Job controller could not create a pod is told by an Event and nowhere else.
    {"apiGroups": ["events.k8s.io"], "resources": ["events"], "verbs": ["create", "list"]},
)
"""In every watched namespace; as a ClusterRole when all are watched."""


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
