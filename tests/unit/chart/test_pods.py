"""What a platform sets for the pods of the operator and of exports."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from bed import processes
from unit.chart.rendering import CHART, Objects, Render, job_spec, named, settings

CA: dict[str, Any] = {
    "env": [{"name": "AWS_CA_BUNDLE", "value": "/ca/ca.crt"}],
    "envFrom": [{"configMapRef": {"name": "proxy"}}],
    "volumes": [{"name": "ca", "configMap": {"name": "company-ca"}}],
    "volumeMounts": [{"name": "ca", "mountPath": "/ca", "readOnly": True}],
}


def operator_pod(objects: Objects) -> dict[str, Any]:
    template: dict[str, Any] = named(objects, "Deployment")["spec"]["template"]
    return template


def from_file(name: str) -> dict[str, Any]:
    values: dict[str, Any] = yaml.safe_load((CHART / "ci" / name).read_text())
    return values


def test_a_private_ca_is_mounted_in_both_pods(render: Render) -> None:
    objects = render(operator=CA, exporter=CA)
    pods = (operator_pod(objects)["spec"], job_spec(objects)["template"]["spec"])
    for pod in pods:
        (container,) = pod["containers"]
        assert CA["env"][0] in container["env"]
        assert CA["envFrom"][0] in container["envFrom"]
        assert CA["volumeMounts"][0] in container["volumeMounts"]
        assert CA["volumes"][0] in pod["volumes"]


def test_on_openshift_no_pod_has_a_fixed_user(render: Render) -> None:
    objects = render(**from_file("openshift.yaml"))
    for pod in (operator_pod(objects)["spec"], job_spec(objects)["template"]["spec"]):
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert not {"runAsUser", "runAsGroup", "fsGroup"} & pod["securityContext"].keys()


def test_another_user_of_export_pods(render: Render) -> None:
    values = {"podSecurityContext": {"runAsUser": 1001, "fsGroup": 2002}}
    context = job_spec(render(exporter=values))["template"]["spec"]["securityContext"]
    assert (context["runAsUser"], context["runAsGroup"], context["fsGroup"]) == (1001, 65532, 2002)


def test_labels_and_annotations(render: Render) -> None:
    objects = render(
        commonLabels={"team": "platform", "app.kubernetes.io/name": "other"},
        operator={"podLabels": {"mesh": "off"}, "podAnnotations": {"a": "b"}},
        exporter={"podLabels": {"mesh": "off"}, "podAnnotations": {"mesh.io/inject": "disabled"}},
    )
    assert [o for o in objects if o["metadata"]["labels"]["team"] != "platform"] == []
    own = operator_pod(objects)["metadata"]
    export = job_spec(objects)["template"]["metadata"]
    for meta in (own, export):
        assert {"team": "platform", "mesh": "off"}.items() <= meta["labels"].items()
        assert meta["labels"]["app.kubernetes.io/name"] == "modelexport"
    assert own["annotations"]["a"] == "b"
    assert export["annotations"]["mesh.io/inject"] == "disabled"


def test_the_order_of_pod_templates(render: Render) -> None:
    """The chart's values, exporter.podTemplate over them, the manifest's over both."""
    platform = {
        "spec": {
            "nodeSelector": {"pool": "platform", "disk": "ssd"},
            "terminationGracePeriodSeconds": 60,
            "containers": [{"name": "exporter", "env": [{"name": "A", "value": "platform"}]}],
        }
    }
    values = {
        "nodeSelector": {"pool": "values", "zone": "a"},
        "env": [{"name": "A", "value": "values"}, {"name": "B", "value": "values"}],
        "podTemplate": platform,
    }
    own = {"spec": {"nodeSelector": {"disk": "own"}, "terminationGracePeriodSeconds": 5}}
    pod = job_spec(render(exporter=values), podTemplate=own)["template"]["spec"]
    assert pod["nodeSelector"] == {"pool": "platform", "zone": "a", "disk": "own"}
    assert pod["terminationGracePeriodSeconds"] == 5
    env = {entry["name"]: entry["value"] for entry in pod["containers"][0]["env"]}
    assert (env["A"], env["B"]) == ("platform", "values")


def test_storage_and_account_of_the_platform(render: Render) -> None:
    storage = {"endpoint": "https://minio:9000", "region": "eu", "secretName": "keys"}
    found = settings(render(exporter={"storage": storage, "serviceAccountName": "exports"}))
    assert found.storage.to_wire() == {**storage, "addressingStyle": "Auto"}
    assert found.service_account_name == "exports"
    assert settings(render()).storage.to_wire() == {"addressingStyle": "Auto"}


def test_logs(render: Render) -> None:
    objects = render(operator={"logLevel": "debug", "logFormat": "text"})
    assert (settings(objects).log_level, settings(objects).log_format) == ("debug", "text")
    objects = render(exporter={"logLevel": "warning"})
    (container,) = job_spec(objects)["template"]["spec"]["containers"]
    assert {"name": "MODELEXPORT_LOG_LEVEL", "value": "warning"} in container["env"]


def test_replicas_are_spread_and_a_drain_moves_one_at_a_time(render: Render) -> None:
    objects = render(**from_file("production.yaml"))
    deployment = named(objects, "Deployment")
    labels = operator_pod(objects)["metadata"]["labels"]
    (spread,) = operator_pod(objects)["spec"]["topologySpreadConstraints"]
    budget = named(objects, "PodDisruptionBudget")["spec"]
    assert (deployment["spec"]["replicas"], budget["maxUnavailable"]) == (2, 1)
    for selector in (spread["labelSelector"], budget["selector"]):
        assert selector["matchLabels"].items() <= labels.items()
        assert selector["matchLabels"]["app.kubernetes.io/component"] == "operator"


def test_probes_without_a_handler_ask_the_operator(render: Render) -> None:
    values = {
        "startupProbe": {"failureThreshold": 9},
        "livenessProbe": {"exec": {"command": ["a"]}},
    }
    (container,) = operator_pod(render(operator=values))["spec"]["containers"]
    assert container["startupProbe"]["httpGet"] == {"path": "/healthz", "port": "http"}
    assert "httpGet" not in container["livenessProbe"]
    assert container["readinessProbe"]["httpGet"] == {"path": "/healthz", "port": "http"}


def test_arguments_follow_the_chart_s(render: Render) -> None:
    (container,) = operator_pod(render(operator={"args": ["--more"]}))["spec"]["containers"]
    assert container["args"] == ["--config", "/etc/modelexport/config.yaml", "--more"]


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"operator": {"logLevel": "loud"}}, "/operator/logLevel"),
        ({"exporter": {"podTemplate": {"containers": []}}}, "containers"),
        ({"exporter": {"storage": {"endpoint": "minio:9000"}}}, "/exporter/storage/endpoint"),
        ({"operator": {"podDisruptionBudget": {"maxUnavailable": 0}}}, "maxUnavailable"),
    ],
    ids=["level", "template", "endpoint", "budget"],
)
def test_invalid_values_are_named(render: Render, values: dict[str, Any], words: str) -> None:
    with pytest.raises(processes.BedError, match=words):
        render(**values)


def test_what_a_team_without_rights_on_the_cluster_installs(render: Render) -> None:
    objects = render(**from_file("namespaced.yaml"))
    cluster = {"CustomResourceDefinition", "ClusterRole", "ClusterRoleBinding"}
    assert not cluster & {o["kind"] for o in objects}
    assert not [o for o in objects if o["kind"].startswith("ValidatingAdmissionPolicy")]


def test_extra_objects_are_templates(render: Render) -> None:
    objects = render(**from_file("everything.yaml"))
    extra = named(objects, "ConfigMap", "modelexport-extra")
    assert extra["data"] == {"replicas": "3"}
    named(objects, "ConfigMap", "exports-text")


@pytest.mark.parametrize("path", sorted((CHART / "ci").glob("*.yaml")), ids=lambda p: p.stem)
def test_helm_lint_finds_nothing_in_the_files_of_ci(helm: Path, path: Path) -> None:
    said = processes.call([helm, "lint", "--strict", CHART, "--values", path])
    assert "0 chart(s) failed" in said
