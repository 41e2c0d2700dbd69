"""The Job of a ModelExport."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelexport_api.isolation import Isolation
from modelexport_api.pod import MANIFEST_ENV, SIGNING_KEY_ENV, SIGNING_KEY_FILE_ENV, WORK_DIR
from modelexport_api.reasons import PERMANENT_EXIT_CODES, ExitCode
from modelexport_api.resource import parse
from modelexport_api.tracing import TRACEPARENT_ENV, context_of_export
from modelexport_operator import names
from modelexport_operator.job import JobError, build, job_name
from modelexport_operator.settings import Settings, TraceSettings
from unit.operator.objects import SETTINGS, UID, export, export_body

OUT = "s3://models/digits/onnx/"


def container(job: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = job["spec"]["template"]["spec"]["containers"][0]
    return found


def env(job: dict[str, Any]) -> dict[str, str]:
    return {entry["name"]: entry["value"] for entry in container(job)["env"]}


@pytest.mark.parametrize("name", ["a", "x" * 63, "x" * 253, "a" * 53 + ".b" + "c" * 20])
def test_the_name_is_a_label_and_differs_by_uid(name: str) -> None:
    first, second = job_name(name, "uid-1"), job_name(name, "uid-2")
    assert first != second
    assert first == job_name(name, "uid-1")
    assert max(len(first), len(job_name(name, "uid-1", 2))) <= 63
    assert first.startswith(name[:50].rstrip("."))


def test_queue_labels_are_copied_to_the_job_but_not_to_its_pods() -> None:
    queue = {
        "kueue.x-k8s.io/queue-name": "gpu",
        "kueue.x-k8s.io/priority-class": "high",
    }
    made = parse(export_body(labels={**queue, "team": "vision", names.UID_LABEL: "forged"}))
    job = build(made, SETTINGS)
    assert queue.items() <= job["metadata"]["labels"].items()
    assert "team" not in job["metadata"]["labels"]
    assert job["metadata"]["labels"][names.UID_LABEL] == UID
    assert not queue.keys() & job["spec"]["template"]["metadata"]["labels"].keys()
    assert "suspend" not in job["spec"]


def test_the_pod_gets_the_trace_only_where_traces_are_on() -> None:
    assert TRACEPARENT_ENV not in env(build(parse(export_body()), SETTINGS))
    for ratio, flags in ((1, "01"), (0, "00")):
        tracing = TraceSettings(enabled=True, sample_ratio=ratio)
        settings = SETTINGS.model_copy(update={"tracing": tracing})
        found = env(build(parse(export_body()), settings))[TRACEPARENT_ENV]
        assert found == context_of_export(UID, ratio).traceparent
        assert found.endswith(flags)


def test_mutable_fields_are_not_in_the_pod_s_manifest() -> None:
    """A Job that is created again after a suspension has the same manifest."""
    before = build(parse(export_body()), SETTINGS)
    changed = {"suspend": False, "ttlSecondsAfterFinished": 60}
    assert build(parse(export_body(changed, generation=3)), SETTINGS) == before


def test_the_owner_is_the_export() -> None:
    (owner,) = build(export(), SETTINGS)["metadata"]["ownerReferences"]
    assert owner["uid"] == UID
    assert owner["controller"] is True


def test_the_manifest_round_trips_without_the_pod_template() -> None:
    made = export({"podTemplate": {"spec": {"nodeSelector": {"a": "b"}}}})
    sent = json.loads(env(build(made, SETTINGS))[MANIFEST_ENV])
    assert "podTemplate" not in sent["spec"]
    assert parse(sent).spec == made.spec.model_copy(update={"pod_template": None})


@pytest.mark.parametrize(
    ("own", "settings", "sent"),
    [
        ("Preferred", "Preferred", "Preferred"),
        ("Preferred", "Required", "Required"),
        ("Required", "Preferred", "Required"),
    ],
)
def test_isolation_is_the_stricter_of_both(own: str, settings: str, sent: str) -> None:
    raised = SETTINGS.model_copy(update={"isolation": Isolation(settings)})
    manifest = json.loads(env(build(export({"isolation": own}), raised))[MANIFEST_ENV])
    assert parse(manifest).spec.isolation is Isolation(sent)


def test_only_infrastructure_failures_are_retried() -> None:
    spec = build(export({"backoffLimit": 5}), SETTINGS)["spec"]
    ignore, fail = spec["podFailurePolicy"]["rules"]
    assert spec["backoffLimit"] == 5
    assert ignore == {
        "action": "Ignore",
        "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}],
    }
    assert fail["action"] == "FailJob"
    assert fail["onExitCodes"]["values"] == list(PERMANENT_EXIT_CODES)
    assert ExitCode.RETRYABLE not in fail["onExitCodes"]["values"]
    assert spec["podReplacementPolicy"] == "Failed"


def test_credentials_come_from_the_secret_and_nothing_from_kubernetes() -> None:
    job = build(export({"storage": {"secretName": "s3"}}), SETTINGS)
    pod = job["spec"]["template"]["spec"]
    assert container(job)["envFrom"] == [{"secretRef": {"name": "s3"}}]
    assert pod["automountServiceAccountToken"] is False
    assert pod["enableServiceLinks"] is False


def test_the_pod_is_restricted() -> None:
    pod = build(export(), SETTINGS)["spec"]["template"]["spec"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert pod["containers"][0]["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "readOnlyRootFilesystem": True,
    }


def test_an_additional_container_is_hardened() -> None:
    sidecar = {"spec": {"initContainers": [{"name": "warm", "image": "w"}]}}
    pod = build(export({"podTemplate": sidecar}), SETTINGS)["spec"]["template"]["spec"]
    assert pod["initContainers"][0]["securityContext"]["capabilities"] == {"drop": ["ALL"]}


def test_the_user_s_template_takes_precedence_over_the_chart_s() -> None:
    def limits(**kinds: object) -> dict[str, Any]:
        return {"spec": {"containers": [{"name": "exporter", "resources": {"limits": kinds}}]}}

    chart = limits(**{"nvidia.com/gpu": 1, "memory": "8Gi"})
    settings = Settings(exporter_image="exporter:1", pod_template=chart)
    assert container(build(export(), settings))["resources"] == {
        "limits": {"nvidia.com/gpu": 1, "memory": "8Gi"}
    }
    users = export({"podTemplate": limits(**{"nvidia.com/gpu": 0, "cpu": 2})})
    assert container(build(users, settings))["resources"] == {"limits": {"memory": "8Gi", "cpu": 2}}


@pytest.mark.parametrize(
    ("pod_spec", "words"),
    [
        ({"restartPolicy": "OnFailure"}, "restartPolicy cannot be changed"),
        ({"automountServiceAccountToken": True}, "automountServiceAccountToken cannot be changed"),
        ({"hostNetwork": True}, "hostNetwork cannot be changed"),
        ({"serviceAccountName": "x"}, "use spec.serviceAccountName"),
        ({"securityContext": {"runAsUser": 0}}, "must not be 0"),
        ({"securityContext": {"runAsNonRoot": False}}, "runAsNonRoot cannot be changed"),
        ({"volumes": [{"name": "a", "hostPath": {"path": "/"}}]}, "hostPath is not allowed"),
        ({"containers": [{"name": "exporter", "command": ["sh"]}]}, "command cannot be set"),
        (
            {"containers": [{"name": "exporter", "env": [{"name": MANIFEST_ENV, "value": "{}"}]}]},
            "is set by the operator",
        ),
        (
            {"initContainers": [{"name": "i", "securityContext": {"privileged": True}}]},
            "privileged cannot be changed",
        ),
        ({"containers": [{"name": "exporter", "ports": [{"hostPort": 1}]}]}, "hostPort"),
        ({"containers": "x"}, "containers must be a list"),
        ({"containers": None}, "containers cannot be null"),
        ({"securityContext": None}, "securityContext cannot be null"),
        ({"containers": [{"name": "exporter", "securityContext": None}]}, "cannot be null"),
        ({"containers": [{"name": "exporter", "env": None}]}, "env cannot be null"),
        ({"volumes": [{"name": "a", "nfs": {"server": "s", "path": "/"}}]}, "nfs is not allowed"),
        (
            {"volumes": [{"name": "a", "projected": {"sources": [{"serviceAccountToken": {}}]}}]},
            "token for the Kubernetes API",
        ),
        ({"serviceAccount": "x"}, "use spec.serviceAccountName"),
        ({"securityContext": {"sysctls": []}}, "sysctls cannot be set"),
        ({"securityContext": {"seLinuxOptions": {"type": "spc_t"}}}, "seLinuxOptions.type"),
        ({"securityContext": {"appArmorProfile": {"type": "Unconfined"}}}, "Unconfined"),
    ],
)
def test_protected_fields_are_rejected_by_name(pod_spec: dict[str, Any], words: str) -> None:
    with pytest.raises(JobError, match=words) as caught:
        build(export({"podTemplate": {"spec": pod_spec}}), SETTINGS)
    assert str(caught.value).startswith("spec.podTemplate")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(
                ["metadata", "labels", "spec", "containers", "initContainers", "volumes", "name",
                 "securityContext", "seLinuxOptions", "resources", "limits", "env", "ports"]
            ),
            inner,
            max_size=3,
        )
    ),
    max_leaves=12,
)  # fmt: skip


@given(spec=st.dictionaries(st.sampled_from(["containers", "volumes", "securityContext"]), JSON),
       metadata=JSON)  # fmt: skip
def test_any_template_gives_a_job_or_a_message(spec: dict[str, Any], metadata: object) -> None:
    """The template is not validated at admission, so the operator must handle anything."""
    try:
        built = build(export({"podTemplate": {"metadata": metadata, "spec": spec}}), SETTINGS)
    except JobError:
        return
    pod = built["spec"]["template"]["spec"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["automountServiceAccountToken"] is False


def test_a_secret_in_an_entry_without_a_name_is_not_repeated() -> None:
    env = {"containers": [{"name": "exporter", "env": [{"value": "hunter2"}]}]}
    with pytest.raises(JobError, match="every entry requires `name`") as caught:
        build(export({"podTemplate": {"spec": env}}), SETTINGS)
    assert "hunter2" not in str(caught.value)


CLAIM = {"persistentVolumeClaim": {"claimName": "models"}}


@pytest.mark.parametrize(
    ("path", "volume", "kept"),
    [
        (f"{WORK_DIR}/out/", CLAIM, False),
        ("/mnt/models/out/", CLAIM, True),
        ("/mnt/mod%65ls/out/", CLAIM, True),
        ("/mnt/modelsx/out/", CLAIM, False),
        ("/mnt/models/out/", {"emptyDir": {}}, False),
    ],
)
def test_publishing_into_the_pod_s_file_system_is_rejected(
    path: str, volume: dict[str, Any], kept: bool
) -> None:
    mount = {"name": "models", "mountPath": "/mnt/models"}
    pod = {
        "containers": [{"name": "exporter", "volumeMounts": [mount]}],
        "volumes": [{"name": "models", **volume}],
    }
    asked = export({"destination": {"uri": f"file://{path}"}, "podTemplate": {"spec": pod}})
    if kept:
        assert build(asked, SETTINGS)
        return
    with pytest.raises(JobError, match=r"spec\.destination\.uri: .* is deleted with the pod"):
        build(asked, SETTINGS)


def test_the_signing_key_is_an_environment_variable_from_the_secret() -> None:
    """User code could read a mounted file; a missing Secret is reported at once."""
    job = build(export({"destination": {"uri": OUT, "signingSecretName": "signing"}}), SETTINGS)
    (entry,) = [e for e in container(job)["env"] if e["name"] == SIGNING_KEY_ENV]
    assert entry["valueFrom"] == {"secretKeyRef": {"name": "signing", "key": "key.pem"}}
    mounted = [m["mountPath"] for m in container(job)["volumeMounts"]]
    assert mounted == ["/work", "/tmp"]


def test_without_a_secret_there_is_no_key() -> None:
    assert SIGNING_KEY_ENV not in env(build(export(), SETTINGS))


@pytest.mark.parametrize("name", [MANIFEST_ENV, SIGNING_KEY_ENV, SIGNING_KEY_FILE_ENV])
def test_only_the_operator_may_set_the_contract_s_variables(name: str) -> None:
    pod = {"containers": [{"name": "exporter", "env": [{"name": name, "value": "mine"}]}]}
    with pytest.raises(JobError, match=f"{name} is set by the operator"):
        build(export({"podTemplate": {"spec": pod}}), SETTINGS)


def test_a_spec_above_the_limit_of_environment_variables_is_rejected() -> None:
    kwargs = {"model": {"factory": "digits:build", "kwargs": {"table": "x" * 130_000}}}
    with pytest.raises(JobError, match=r"shorten spec\.model\.kwargs"):
        build(export(kwargs), SETTINGS)
