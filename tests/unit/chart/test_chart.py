"""The chart renders the configuration and the permissions that the operator needs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bed import processes
from modelexport_operator import rbac
from unit.chart.rendering import CHART, Render, container, named, settings


def test_helm_lint_finds_nothing(helm: Path) -> None:
    assert "0 chart(s) failed" in processes.call([helm, "lint", "--strict", CHART])


def test_the_operator_has_exactly_the_permissions_it_needs(render: Render) -> None:
    objects = render()
    watched = rbac.trigger_rules(settings(objects).triggers)
    assert named(objects, "ClusterRole")["rules"] == [*rbac.CLUSTER_RULES, *watched]
    leader = named(objects, "Role", "modelexport-leader")
    assert leader["rules"] == list(rbac.lease_rules("modelexport"))


def test_kueue_s_workloads_are_read_only_where_the_values_enable_it(render: Render) -> None:
    objects = render(kueue={"enabled": True, "qps": 5})
    found = settings(objects)
    assert (found.kueue.enabled, found.kueue.qps) == (True, 5)
    rules = named(objects, "ClusterRole")["rules"]
    assert rules[-1:] == list(rbac.kueue_rules(found.kueue))
    assert not settings(render()).kueue.enabled
    assert rules[:-1] == named(render(), "ClusterRole")["rules"]


def test_traces_are_off_unless_the_values_enable_them(render: Render) -> None:
    objects = render()
    assert not settings(objects).tracing.enabled
    assert "OTEL_" not in str(objects)
    headers = {"name": "collector", "key": "headers"}
    url = "http://collector:4318"
    objects = render(tracing={"enabled": True, "endpoint": url, "headersSecret": headers})
    assert settings(objects).tracing.enabled
    pod = named(objects, "Deployment")["spec"]["template"]["spec"]
    for env in (pod["containers"][0]["env"], container(objects)["env"]):
        found = {entry["name"]: entry for entry in env}
        assert found["OTEL_EXPORTER_OTLP_ENDPOINT"]["value"] == url
        secret = found["OTEL_EXPORTER_OTLP_HEADERS"]["valueFrom"]["secretKeyRef"]
        assert secret == {**headers, "optional": True}
    with pytest.raises(processes.BedError, match=r"tracing.endpoint is required"):
        render(tracing={"enabled": True})


_SECURE = {"enabled": True, "secretName": "metrics-tls"}


def test_secure_metrics_get_the_permissions_to_review_and_nothing_else(render: Render) -> None:
    objects = render(metrics={"secure": _SECURE})
    own = named(objects, "ClusterRole", "modelexport-system-metrics")
    assert own["rules"] == list(rbac.metrics_rules(secure=True))
    reader = named(objects, "ClusterRole", "modelexport-system-metrics-reader")
    assert reader["rules"] == list(rbac.METRICS_READER_RULES)
    plain = render()
    assert named(objects, "ClusterRole") == named(plain, "ClusterRole")
    assert not [o for o in plain if "-metrics" in o["metadata"]["name"]]


def test_monitors_follow_secure_metrics(render: Render) -> None:
    found = named(
        render(metrics={"secure": _SECURE, "serviceMonitor": {"enabled": True}}), "ServiceMonitor"
    )
    (endpoint,) = found["spec"]["endpoints"]
    assert (endpoint["scheme"], endpoint["port"]) == ("https", "metrics")
    assert endpoint["tlsConfig"]["serverName"] == "modelexport-metrics.system.svc"
    assert endpoint["tlsConfig"]["ca"]["secret"] == {"name": "metrics-tls", "key": "ca.crt"}
    assert endpoint["bearerTokenFile"].endswith("serviceaccount/token")
    secret = {"name": "token", "key": "token"}
    both = {"secure": {**_SECURE, "tokenSecret": secret}, "podMonitor": {"enabled": True}}
    (endpoint,) = named(render(metrics=both), "PodMonitor")["spec"]["podMetricsEndpoints"]
    assert endpoint["authorization"] == {"credentials": secret}


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"secure": {"enabled": True}}, "metrics.secure.secretName is required"),
        ({"secure": _SECURE, "podMonitor": {"enabled": True}}, "tokenSecret.name is required"),
    ],
)
def test_secure_metrics_that_cannot_work_are_refused(
    render: Render, values: dict[str, Any], words: str
) -> None:
    with pytest.raises(processes.BedError, match=words):
        render(metrics=values)


@pytest.mark.parametrize(
    ("values", "watched"),
    [
        ({"kinds": [], "custom": []}, []),
        ({"kinds": ["RayJob"]}, [("ray.io", "rayjobs")]),
        (
            {
                "kinds": ["Job"],
                "custom": [
                    {"apiVersion": "example.com/v1", "kind": "Training", "resource": "trainings"},
                    {"apiVersion": "v1", "kind": "Pod", "resource": "pods"},
                ],
            },
            [("batch", "jobs"), ("example.com", "trainings"), ("", "pods")],
        ),
    ],
    ids=["none", "one", "other kinds"],
)
def test_only_the_kinds_that_triggers_may_name_can_be_watched(
    render: Render, values: dict[str, Any], watched: list[tuple[str, str]]
) -> None:
    objects = render(triggers=values)
    rules = named(objects, "ClusterRole")["rules"][len(rbac.CLUSTER_RULES) :]
    assert rules == list(rbac.trigger_rules(settings(objects).triggers))
    assert [(rule["apiGroups"][0], rule["resources"][0]) for rule in rules] == watched


def test_watching_namespaces_needs_no_permission_in_others(render: Render) -> None:
    objects = render(operator={"watchNamespaces": ["team-a", "team-b"]})
    assert not [o for o in objects if o["kind"] == "ClusterRoleBinding"]
    bound = {
        o["metadata"].get("namespace")
        for o in objects
        if o["kind"] == "RoleBinding" and o["metadata"]["name"] == "modelexport"
    }
    assert bound == {"team-a", "team-b"}
    assert settings(objects).watch_namespaces == ["team-a", "team-b"]


def test_an_export_asks_for_one_nvidia_gpu(render: Render) -> None:
    assert container(render())["resources"]["limits"] == {"nvidia.com/gpu": 1, "memory": "16Gi"}


@pytest.mark.parametrize(
    ("gpu", "limits"),
    [
        ({"count": 0}, {"memory": "16Gi"}),
        ({"resource": "amd.com/gpu", "count": 2}, {"memory": "16Gi", "amd.com/gpu": 2}),
    ],
    ids=["none", "another vendor's"],
)
def test_values_choose_the_gpu(render: Render, gpu: dict[str, Any], limits: dict[str, Any]) -> None:
    assert container(render(exporter={"gpu": gpu}))["resources"]["limits"] == limits


DIGEST = "sha256:" + "a" * 64


@pytest.mark.parametrize(
    ("gpus", "cpu_image", "expected"),
    [
        (1, {}, "host/exporter:7"),
        (0, {}, "host/exporter-cpu:7"),
        (0, {"repository": "host/lean"}, "host/lean:7"),
        (0, {"tag": "8"}, "host/exporter-cpu:8"),
        (0, {"digest": DIGEST}, f"host/exporter-cpu@{DIGEST}"),
        (2, {"repository": "host/lean", "digest": DIGEST}, "host/exporter:7"),
    ],
)
def test_export_pods_without_gpus_run_the_image_without_cuda(
    render: Render, gpus: int, cpu_image: dict[str, str], expected: str
) -> None:
    image = {"repository": "host/exporter", "tag": "7"}
    objects = render(exporter={"image": image, "cpuImage": cpu_image, "gpu": {"count": gpus}})
    assert settings(objects).exporter_image == expected


def test_the_audiences_of_tokens_are_in_the_operator_s_settings(render: Render) -> None:
    assert settings(render()).token_audiences == ["sts.amazonaws.com"]
    assert settings(render(exporter={"tokenAudiences": []})).token_audiences == []


def test_a_digest_takes_precedence_over_a_tag(render: Render) -> None:
    digest = "sha256:" + "a" * 64
    objects = render(operator={"image": {"repository": "host/op", "tag": "7", "digest": digest}})
    spec = named(objects, "Deployment")["spec"]["template"]["spec"]
    assert spec["containers"][0]["image"] == f"host/op@{digest}"


def test_the_crd_is_kept_on_uninstall_by_default(render: Render) -> None:
    name = "modelexports.modelexport.dev"
    crd = named(render(), "CustomResourceDefinition", name)
    assert crd["metadata"]["annotations"] == {"helm.sh/resource-policy": "keep"}
    crd = named(render(crds={"keep": False}), "CustomResourceDefinition", name)
    assert "annotations" not in crd["metadata"]
    kinds = {o["kind"] for o in render(crds={"install": False})}
    assert "CustomResourceDefinition" not in kinds


def test_the_operator_s_pod_is_restricted(render: Render) -> None:
    spec = named(render(), "Deployment")["spec"]["template"]["spec"]
    assert spec["securityContext"]["runAsNonRoot"]
    assert spec["containers"][0]["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"operator": {"replica": 2}}, "replica"),
        ({"exporter": {"gpu": {"count": "one"}}}, "/exporter/gpu/count"),
        ({"serviceAccount": {"create": False}}, "serviceAccount.name is required"),
    ],
    ids=["unknown value", "wrong type", "no service account"],
)
def test_invalid_values_are_rejected_by_name(
    render: Render, values: dict[str, Any], words: str
) -> None:
    with pytest.raises(processes.BedError, match=words):
        render(**values)


def test_rendering_is_deterministic(render: Render) -> None:
    assert render() == render()
