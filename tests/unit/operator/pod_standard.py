"""Pod templates for each control of the Pod Security Standard `restricted`, and beyond it.

REFUSED_BY_BOTH has the controls of https://kubernetes.io/docs/concepts/security/pod-security-standards/
in their order; `tests/cluster/operator/test_pod_standard.py` asks a real API server about each.
"""

from __future__ import annotations

from typing import Any

Template = dict[str, Any]
Row = tuple[str, Template, str]
"""Name of the control, the template, words of our refusal."""

APP_ARMOR = "container.apparmor.security.beta.kubernetes.io/"


def pod(**spec: Any) -> Template:  # noqa: ANN401
    return {"spec": spec}


def exporter(**fields: Any) -> Template:  # noqa: ANN401
    return pod(containers=[{"name": "exporter", **fields}])


def sidecar(**fields: Any) -> Template:  # noqa: ANN401
    return pod(initContainers=[{"name": "other", "image": "other", **fields}])


def secured(**context: Any) -> dict[str, Any]:  # noqa: ANN401
    return {"securityContext": context}


def volume(**source: Any) -> Template:  # noqa: ANN401
    return pod(volumes=[{"name": "extra", **source}])


def projected(**source: Any) -> Template:  # noqa: ANN401
    return volume(projected={"sources": [source]})


def token(**fields: Any) -> Template:  # noqa: ANN401
    return projected(serviceAccountToken={"path": "token", **fields})


def annotated(name: str, value: str) -> Template:
    return {"metadata": {"annotations": {name: value}}}


_HTTP = {"path": "/", "port": 80, "host": "169.254.169.254"}

REFUSED_BY_BOTH: list[Row] = [
    (
        "HostProcess",
        pod(**secured(windowsOptions={"hostProcess": True})),
        "windowsOptions cannot be set",
    ),
    ("host network", pod(hostNetwork=True), "hostNetwork cannot be changed"),
    ("host processes", pod(hostPID=True), "hostPID cannot be changed"),
    ("host IPC", pod(hostIPC=True), "hostIPC cannot be changed"),
    ("privileged", exporter(**secured(privileged=True)), "privileged cannot be changed"),
    ("privileged sidecar", sidecar(**secured(privileged=True)), "privileged cannot be changed"),
    (
        "capabilities added",
        exporter(**secured(capabilities={"drop": ["ALL"], "add": ["SYS_ADMIN"]})),
        "capabilities cannot be changed",
    ),
    (
        "capabilities kept",
        sidecar(**secured(capabilities={"drop": ["NET_RAW"]})),
        "capabilities cannot be changed",
    ),
    ("host path", volume(hostPath={"path": "/"}), "hostPath is not allowed"),
    ("host port", exporter(ports=[{"containerPort": 80, "hostPort": 80}]), "hostPort"),
    ("host of a probe", sidecar(restartPolicy="Always", livenessProbe={"httpGet": _HTTP}), "host"),
    (
        "host of a hook",
        exporter(lifecycle={"preStop": {"tcpSocket": {"port": 80, "host": "10.0.0.1"}}}),
        r"lifecycle\.preStop\.tcpSocket\.host cannot be set",
    ),
    (
        "AppArmor annotation",
        annotated(f"{APP_ARMOR}exporter", "unconfined"),
        "cannot be 'unconfined'; expected runtime/default",
    ),
    (
        "AppArmor of the pod",
        pod(**secured(appArmorProfile={"type": "Unconfined"})),
        "appArmorProfile cannot be Unconfined",
    ),
    (
        "AppArmor of a container",
        exporter(**secured(appArmorProfile={"type": "Unconfined"})),
        "appArmorProfile cannot be Unconfined",
    ),
    (
        "SELinux type",
        pod(**secured(seLinuxOptions={"type": "spc_t"})),
        r"seLinuxOptions\.type cannot be set",
    ),
    (
        "SELinux user",
        exporter(**secured(seLinuxOptions={"user": "root"})),
        r"seLinuxOptions\.user cannot be set",
    ),
    (
        "SELinux role",
        exporter(**secured(seLinuxOptions={"role": "sysadm_r"})),
        r"seLinuxOptions\.role cannot be set",
    ),
    (
        "/proc mount",
        pod(hostUsers=False, **exporter(**secured(procMount="Unmasked"))["spec"]),
        "procMount cannot be changed",
    ),
    (
        "sysctls",
        pod(**secured(sysctls=[{"name": "kernel.msgmax", "value": "1"}])),
        "sysctls cannot be set",
    ),
    ("volume types", volume(nfs={"server": "s", "path": "/"}), "nfs is not allowed"),
    (
        "privilege escalation",
        sidecar(**secured(allowPrivilegeEscalation=True)),
        "allowPrivilegeEscalation cannot be changed",
    ),
    ("non-root of the pod", pod(**secured(runAsNonRoot=False)), "runAsNonRoot cannot be changed"),
    (
        "non-root of a container",
        exporter(**secured(runAsNonRoot=False)),
        "runAsNonRoot cannot be changed",
    ),
    ("root as user of the pod", pod(**secured(runAsUser=0)), "must not be 0"),
    ("root as user of a container", sidecar(**secured(runAsUser=0)), "must not be 0"),
    (
        "seccomp of the pod",
        pod(**secured(seccompProfile={"type": "Unconfined"})),
        "seccompProfile cannot be changed",
    ),
    (
        "seccomp of a container",
        sidecar(**secured(seccompProfile={"type": "Unconfined"})),
        "seccompProfile cannot be changed",
    ),
    (
        "ephemeral containers",
        pod(ephemeralContainers=[{"name": "debug", "image": "busybox"}]),
        "ephemeralContainers cannot be set",
    ),
    ("pod for Windows", pod(os={"name": "windows"}), "os cannot be changed"),
]
"""Also what the API server does not take in any pod template."""

REFUSED_BY_US: list[Row] = [
    ("token of the pod", pod(automountServiceAccountToken=True), "cannot be changed from False"),
    ("account", pod(serviceAccountName="other"), r"use spec\.serviceAccountName"),
    ("account, old name", pod(serviceAccount="other"), r"use spec\.serviceAccountName"),
    ("token without an audience", token(), "a token for the Kubernetes API"),
    ("token with an empty audience", token(audience=""), "a token for the Kubernetes API"),
    (
        "token for the API server",
        token(audience="https://kubernetes.default.svc"),
        r"a token for 'https://kubernetes\.default\.svc'; expected sts\.amazonaws\.com",
    ),
    (
        "certificate for the API server",
        projected(
            podCertificate={
                "signerName": "kubernetes.io/kube-apiserver-client-pod",
                "keyType": "ED25519",
                "credentialBundlePath": "bundle",
            }
        ),
        "podCertificate is not allowed",
    ),
    (
        "seccomp annotation",
        annotated("seccomp.security.alpha.kubernetes.io/pod", "unconfined"),
        "cannot be 'unconfined'",
    ),
    (
        "seccomp annotation of a container",
        annotated("container.seccomp.security.alpha.kubernetes.io/exporter", "unconfined"),
        "cannot be 'unconfined'",
    ),
    (
        "writable root file system",
        exporter(**secured(readOnlyRootFilesystem=False)),
        "readOnlyRootFilesystem cannot be changed",
    ),
]
"""What `restricted` allows, and the contract of an export pod does not."""

ACCEPTED: list[tuple[str, Template]] = [
    ("nothing", {}),
    ("token of the store", token(audience="sts.amazonaws.com")),
    ("AppArmor annotation", annotated(f"{APP_ARMOR}exporter", "runtime/default")),
    ("AppArmor of the pod", pod(**secured(appArmorProfile={"type": "RuntimeDefault"}))),
    ("SELinux level", pod(**secured(seLinuxOptions={"level": "s0:c1,c2"}))),
    ("another user", pod(**secured(runAsUser=1000, fsGroup=1000))),
    ("user namespace", pod(hostUsers=False)),
    ("Linux", pod(os={"name": "linux"})),
    ("port", exporter(ports=[{"containerPort": 80}])),
    ("probe", sidecar(restartPolicy="Always", livenessProbe={"httpGet": {"port": 80}})),
    ("ConfigMap", volume(configMap={"name": "a"})),
    ("Secret", volume(secret={"secretName": "a"})),
    ("CSI volume", volume(csi={"driver": "a"})),
    ("claim", volume(persistentVolumeClaim={"claimName": "a"})),
    ("projected Secret", projected(secret={"name": "a"})),
    ("sidecar", sidecar(restartPolicy="Always")),
]
