"""A real Prometheus scrapes a real operator: the dashboard's queries and the alert rules work."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bed import prometheus
from bed.control_plane import ControlPlane
from bed.fixtures import require
from bed.prometheus import Prometheus
from cluster.operator.replica import Operators, Replica
from cluster.operator.world import SUCCESS, World, eventually, failure
from modelexport_api.reasons import ExitCode, Reason
from modelexport_api.status import Stage
from modelexport_operator import metrics_catalogue as catalogue
from monitoring import shipped

pytestmark = pytest.mark.control_plane

_EMPTY = {
    "Watch restarts per hour": "no watch failed",
    "Exports that triggers created, per hour": "there is no trigger",
    "API errors per second": "no request failed",
    "Stages, median": "stages need logs, which these pods do not have",
}
"""Panels that may show nothing, and why."""


@pytest.fixture
def scraped(control_plane: ControlPlane, operator: Replica) -> Iterator[Prometheus]:
    require("prometheus")
    before = list(control_plane.run.children)
    yield prometheus.start(control_plane.run, [operator.port], shipped.ALERTS)
    for child in [entry for entry in control_plane.run.children if entry not in before]:
        child.stop()
        control_plane.run.children.remove(child)


def _run(world: World) -> None:
    """One export succeeds, one fails, one waits."""
    for name in ("good", "bad", "waits"):
        world.create(name)
    for name in ("good", "bad"):
        world.run_pod(world.live_pod(name))
    world.end_pod(world.live_pod("good"), 0, SUCCESS)
    why = failure(Reason.VERIFICATION_FAILED, Stage.VERIFY, [])
    world.end_pod(world.live_pod("bad"), ExitCode.VERIFICATION, why)
    world.wait_for("good", "Complete")
    world.wait_for("bad", "Failed")


def test_prometheus_sees_what_happens(world: World, operator: Replica, scraped: Prometheus) -> None:
    twice = "count_over_time(modelexport_leader[1m]) >= 2"
    eventually(lambda: scraped.value(twice), "the operator was scraped before anything ended")
    for resource in ("modelexports", "jobs"):
        assert operator.requests("GET", resource) == 1, "everything is listed once"
    _run(world)
    ended = 'sum(modelexport_finished_total{phase="Failed",reason="VerificationFailed"})'
    eventually(lambda: scraped.value(ended) == 1, "the failure was scraped")
    eventually(lambda: scraped.value("sum(rate(modelexport_finished_total[1m]))"), "rates exist")
    for title, query in shipped.panel_queries():
        series = scraped.query(query)
        assert series or title in _EMPTY, f"{title}: {query}"
    missing = {spec.name for spec in catalogue.ALL if spec.kind != "histogram"} - {
        series["metric"]["__name__"] for series in scraped.query('{__name__=~"modelexport_.*"}')
    }
    assert missing <= {
        catalogue.TRIGGERED.name,
        catalogue.TRIGGER_SKIPPED.name,
        catalogue.TRIGGERS.name,
        catalogue.WATCH_RESTARTS.name,
    }
    rules = {rule["name"]: rule for rule in scraped.rules()}
    assert {name: rule["health"] for name, rule in rules.items()} == dict.fromkeys(rules, "ok")
    assert [name for name, rule in rules.items() if rule["state"] != "inactive"] == []

    operator.kill()
    eventually(
        lambda: (
            [rule["name"] for rule in scraped.rules() if rule["state"] == "pending"]
            == ["ModelExportOperatorDown"]
        ),
        "Prometheus notices that the operator is gone",
    )


@pytest.mark.nightly  # waits for 30 s
def test_a_forbidden_watch_ends_the_process_with_a_last_word(
    control_plane: ControlPlane, operators: Operators
) -> None:
    """Of what the operator may do, only the watch on triggers is missing."""
    group = "rbac.authorization.k8s.io"
    name = f"no-triggers-{operators.namespace}"
    role = control_plane.get("clusterrole", "operator")
    rules = [rule for rule in role["rules"] if "modelexporttriggers" not in rule["resources"]]
    control_plane.apply(
        {
            "apiVersion": f"{group}/v1",
            "kind": "ClusterRole",
            "metadata": {"name": name},
            "rules": rules,
        },
        {
            "apiVersion": f"{group}/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": name},
            "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": name},
            "subjects": [{"apiGroup": group, "kind": "User", "name": name}],
        },
    )
    pair = control_plane.authority.issue(name, user=name)
    operators.kubeconfig = control_plane.kubeconfig_for(name, pair)
    replica = operators.start()
    assert replica.child.process.wait(60) == 1
    last = replica.child.last_lines().splitlines()[-1]
    assert "modelexporttriggers" in last
    assert "forbidden" in last
    assert '"level": "error"' in last
    assert last.endswith('exiting"}')
