"""Values of the chart are where they take effect."""

from __future__ import annotations

import pytest

from modelexport_api.pod import WORK_DIR
from modelexport_api.resource import parse
from modelexport_operator import job
from unit.api.manifests import VALID
from unit.chart.rendering import Render, named, settings

AFFINITY = {
    "nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [{"matchExpressions": [{"key": "gpu", "operator": "Exists"}]}]
        }
    }
}


def test_every_value_for_export_pods_is_in_the_job(render: Render) -> None:
    values = {
        "nodeSelector": {"pool": "gpu"},
        "tolerations": [{"key": "gpu", "operator": "Exists"}],
        "affinity": AFFINITY,
        "runtimeClassName": "nvidia",
        "priorityClassName": "low",
        "env": [{"name": "AWS_CA_BUNDLE", "value": "/certs/ca.pem"}],
        "image": {"repository": "host/exporter", "tag": "7", "pullPolicy": "Always"},
        "workVolume": {"sizeLimit": "50Gi"},
    }
    objects = render(exporter=values, imagePullSecrets=[{"name": "pull"}])
    resource = parse({**VALID, "metadata": {"name": "digits", "uid": "u"}})
    spec = job.build(resource, settings(objects))["spec"]["template"]["spec"]
    assert spec["nodeSelector"] == {"pool": "gpu"}
    assert {"key": "gpu", "operator": "Exists"} in spec["tolerations"]
    assert spec["affinity"] == AFFINITY
    assert (spec["runtimeClassName"], spec["priorityClassName"]) == ("nvidia", "low")
    assert spec["imagePullSecrets"] == [{"name": "pull"}]
    (exporter,) = spec["containers"]
    assert (exporter["image"], exporter["imagePullPolicy"]) == ("host/exporter:7", "Always")
    assert values["env"][0] in exporter["env"]  # type: ignore[index]
    volumes = {volume["name"]: volume for volume in spec["volumes"]}
    (work,) = [m["name"] for m in exporter["volumeMounts"] if m["mountPath"] == WORK_DIR]
    assert volumes[work]["emptyDir"] == {"sizeLimit": "50Gi"}


def test_every_value_for_the_operator_is_in_its_settings(render: Render) -> None:
    limits = {"qps": 7, "burst": 8, "logQps": 9}
    found = settings(
        render(
            operator={
                "api": limits,
                "podStartGraceSeconds": 33,
                "resyncSeconds": 44,
                "stalledSeconds": 55,
                "workers": 5,
            },
            kueue={"refreshSeconds": 66},
            tracing={"sampleRatio": 0.25},
        )
    )
    assert found.api.to_wire() == limits
    assert (found.pod_start_grace_seconds, found.resync_seconds, found.workers) == (33, 44, 5)
    assert (found.stalled_seconds, found.kueue.refresh_seconds) == (55, 66)
    assert found.tracing.sample_ratio == 0.25


def test_every_value_for_the_operator_s_pod_is_in_its_deployment(render: Render) -> None:
    values = {
        "image": {"repository": "host/op", "tag": "7", "pullPolicy": "Always"},
        "strategy": {"rollingUpdate": {"maxUnavailable": 1, "maxSurge": 0}},
        "affinity": AFFINITY,
    }
    spec = named(render(operator=values), "Deployment")["spec"]
    assert spec["strategy"] == values["strategy"]
    pod = spec["template"]["spec"]
    assert pod["affinity"] == AFFINITY
    (container,) = pod["containers"]
    assert (container["image"], container["imagePullPolicy"]) == ("host/op:7", "Always")


@pytest.mark.parametrize(
    ("value", "kind", "endpoints"),
    [
        ("podMonitor", "PodMonitor", "podMetricsEndpoints"),
        ("serviceMonitor", "ServiceMonitor", "endpoints"),
    ],
)
def test_monitors_scrape_at_their_interval(
    render: Render, value: str, kind: str, endpoints: str
) -> None:
    found = named(render(metrics={value: {"enabled": True, "interval": "7s"}}), kind)
    assert [one["interval"] for one in found["spec"][endpoints]] == ["7s"]
