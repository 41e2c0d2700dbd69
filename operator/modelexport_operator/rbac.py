"""The permissions that the operator needs; a test compares the chart's roles with them."""

from __future__ import annotations

from modelexport_api import GROUP, PLURAL
from modelexport_api.trigger import TRIGGER_PLURAL
from modelexport_operator.metrics_access import PATH, VERB
from modelexport_operator.settings import KueueSettings
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
    # list: the Job controller reports only by an Event why it could not create a pod.
    {"apiGroups": ["events.k8s.io"], "resources": ["events"], "verbs": ["create", "list"]},
)
"""In every watched namespace; as a ClusterRole if all namespaces are watched."""


def trigger_rules(settings: TriggerSettings) -> tuple[Rule, ...]:
    """Return the permissions on the kinds that triggers may name, one rule per kind."""
    verbs = ["list", "watch"]
    return tuple(
        {"apiGroups": [kind.group], "resources": [kind.resource], "verbs": verbs}
        for kind in settings.watched_kinds()
    )


def kueue_rules(settings: KueueSettings) -> tuple[Rule, ...]:
    """Return the permissions on the Workloads that stand for Jobs in Kueue's queues."""
    if not settings.enabled:
        return ()
    group = ["kueue.x-k8s.io"]
    return ({"apiGroups": group, "resources": ["workloads"], "verbs": ["get", "list"]},)


def metrics_rules(*, secure: bool) -> tuple[Rule, ...]:
    """Return the permissions to ask who reads the metrics. Reviews have no namespace."""
    if not secure:
        return ()
    return (
        {
            "apiGroups": ["authentication.k8s.io"],
            "resources": ["tokenreviews"],
            "verbs": ["create"],
        },
        {
            "apiGroups": ["authorization.k8s.io"],
            "resources": ["subjectaccessreviews"],
            "verbs": ["create"],
        },
    )


METRICS_READER_RULES: tuple[Rule, ...] = ({"nonResourceURLs": [PATH], "verbs": [VERB]},)
"""Of a client that reads the metrics."""


def lease_rules(name: str) -> tuple[Rule, ...]:
    """Return the permissions in the operator's own namespace, for leader election."""
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
