"""The protected fields of a pod template: the contract with the exporter, and hardening.

A user (or the chart) may set anything else: image, resources, nodeSelector, tolerations, affinity,
runtimeClassName, priorityClassName, imagePullSecrets, extra env, volumes (a volume named `work`
replaces the working directory's), init containers and sidecars, runAsUser, fsGroup. A template
that sets a protected field is rejected with a message; the field is not silently overwritten.
With these rules the pod always complies with the Pod Security Standard `restricted`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from modelexport_api.claims import CLAIMS_DIR_ENV
from modelexport_api.pod import CONTAINER, MANIFEST_ENV, SIGNING_KEY_ENV, SIGNING_KEY_FILE_ENV
from modelexport_operator.pod_template import Template, TemplateError

_OURS = (MANIFEST_ENV, SIGNING_KEY_ENV, SIGNING_KEY_FILE_ENV, CLAIMS_DIR_ENV)
"""Environment variables of the exporter's container that only the operator may set.

No set, here and below: what a template has may be a list, which no set can be asked about."""

_VOLUMES = {
    "configMap",
    "csi",
    "downwardAPI",
    "emptyDir",
    "ephemeral",
    "persistentVolumeClaim",
    "projected",
    "secret",
}
"""The volume types that `restricted` allows."""

_PROJECTED = {"clusterTrustBundle", "configMap", "downwardAPI", "secret", "serviceAccountToken"}
"""Not podCertificate: with one, a pod is a client of the API server."""

TOKEN_AUDIENCES = ("sts.amazonaws.com",)
"""Whom a service account's token may be for. Each API server has audiences of its own choice, so
that only a list of others excludes a token for it."""

_CONFINEMENT = (
    "container.apparmor.security.beta.kubernetes.io/",
    "container.seccomp.security.alpha.kubernetes.io/",
    "seccomp.security.alpha.kubernetes.io/",
)
"""Annotations of older Kubernetes versions for what securityContext has now."""

_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_HOOKS = ("postStart", "preStop")

_POD_FIXED: dict[str, Any] = {
    "restartPolicy": "Never",
    "automountServiceAccountToken": False,
    "enableServiceLinks": False,
    "hostNetwork": False,
    "hostPID": False,
    "hostIPC": False,
    "os": {"name": "linux"},
    "ephemeralContainers": None,
    "activeDeadlineSeconds": None,
    "serviceAccountName": None,
    "serviceAccount": None,
}
_ALTERNATIVES = {
    "activeDeadlineSeconds": "; use spec.activeDeadlineSeconds",
    "serviceAccountName": "; use spec.serviceAccountName",
    "serviceAccount": "; use spec.serviceAccountName",
}
_EXPORTER_FIXED: dict[str, Any] = {
    "command": None,
    "args": None,
    "terminationMessagePath": None,
    "terminationMessagePolicy": None,
    "restartPolicy": None,
}
_SECURITY_FIXED: dict[str, Any] = {
    "runAsNonRoot": True,
    "privileged": False,
    "allowPrivilegeEscalation": False,
    "readOnlyRootFilesystem": True,
    "capabilities": {"drop": ["ALL"]},
    "seccompProfile": {"type": "RuntimeDefault"},
    "procMount": "Default",
    "windowsOptions": None,
    "sysctls": None,
}
_ANY_FILE_SYSTEM = {key: v for key, v in _SECURITY_FIXED.items() if key != "readOnlyRootFilesystem"}

HARDENED = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
"""The securityContext that `restricted` requires for every container."""


def check(template: Template, audiences: Collection[str] = TOKEN_AUDIENCES) -> None:
    """Raise TemplateError if the template sets a protected field.

    `audiences`: whom a service account's token may be for.
    """
    for message in _find_violations(template, audiences):
        raise TemplateError(f"podTemplate.{message}")


def harden(template: Template) -> Template:
    """Return the template with hardened defaults for additional containers."""
    spec = dict(template["spec"])
    for kind in ("containers", "initContainers"):
        if spec.get(kind):
            spec[kind] = [
                {**entry, "securityContext": {**HARDENED, **entry.get("securityContext", {})}}
                for entry in spec[kind]
            ]
    return {**template, "spec": spec}


def _find_violations(template: Template, audiences: Collection[str]) -> Iterator[str]:
    for key in template:
        if key not in {"metadata", "spec"}:
            yield f"{key} is not a field of a pod template; expected metadata and spec"
    metadata = _get_mapping(template, "metadata")
    _get_mapping(metadata, "labels")
    yield from _check_annotations(_get_mapping(metadata, "annotations"))
    yield from _find_nulls(template, ("spec",), "")
    spec = _get_mapping(template, "spec")
    yield from _find_nulls(spec, ("containers", "securityContext"), "spec.")
    yield from _find_differences(spec, _POD_FIXED, "spec")
    yield from _check_security(_get_mapping(spec, "securityContext"), _ANY_FILE_SYSTEM, "spec")
    for volume in _get_entries(spec, "volumes"):
        yield from _check_volume(volume, f"spec.volumes[{volume.get('name')}]", audiences)
    for kind in ("containers", "initContainers"):
        for container in _get_entries(spec, kind):
            yield from _check_container(container, kind)


def _check_annotations(annotations: Template) -> Iterator[str]:
    for name, value in annotations.items():
        if name.startswith(_CONFINEMENT) and not _is_confined(value):
            yield (
                f"metadata.annotations: {name} cannot be {value!r}; expected runtime/default or "
                "localhost/PROFILE"
            )


def _is_confined(profile: object) -> bool:
    return isinstance(profile, str) and (
        profile == "runtime/default" or profile.startswith("localhost/")
    )


def _check_volume(volume: Template, path: str, audiences: Collection[str]) -> Iterator[str]:
    for kind in volume:
        if kind != "name" and kind not in _VOLUMES:
            yield f"{path}.{kind} is not allowed; use a persistentVolumeClaim"
    for source in _get_entries(_get_mapping(volume, "projected"), "sources"):
        for kind in source:
            if kind not in _PROJECTED:
                yield f"{path}.projected: {kind} is not allowed"
        if "serviceAccountToken" in source:
            yield from _check_audience(_token(source).get("audience"), path, audiences)


def _check_audience(audience: object, path: str, audiences: Collection[str]) -> Iterator[str]:
    expected = f"expected {' or '.join(audiences)}" if audiences else "no token is allowed"
    chart = "the chart's exporter.tokenAudiences lists what is allowed"
    if not audience:
        yield f"{path} has a token for the Kubernetes API; set its audience ({expected}; {chart})"
    elif audience not in audiences:
        yield f"{path} has a token for {audience!r}; {expected} ({chart})"


def _token(source: Template) -> Template:
    return _get_mapping(source, "serviceAccountToken")


def _find_nulls(parent: Template, keys: tuple[str, ...], path: str) -> Iterator[str]:
    """Reject null for fields that contain parts of the contract, not only defaults."""
    for key in keys:
        if key in parent and parent[key] is None:
            yield f"{path}{key} cannot be null"


def _check_container(container: Template, kind: str) -> Iterator[str]:
    path = f"spec.{kind}[{container.get('name')}]"
    is_exporter = kind == "containers" and container.get("name") == CONTAINER
    yield from _find_nulls(container, ("securityContext",), f"{path}.")
    fixed = _SECURITY_FIXED if is_exporter else _ANY_FILE_SYSTEM
    yield from _check_security(_get_mapping(container, "securityContext"), fixed, path)
    for port in _get_entries(container, "ports"):
        if port.get("hostPort"):
            yield f"{path}.ports: hostPort is not allowed"
    yield from _check_handlers(container, path)
    if is_exporter:
        yield from _find_differences(container, _EXPORTER_FIXED, path)
        yield from _find_nulls(container, ("env",), f"{path}.")
        for entry in _get_entries(container, "env"):
            if entry.get("name") in _OURS:
                yield f"{path}.env: {entry['name']} is set by the operator"


def _check_handlers(container: Template, path: str) -> Iterator[str]:
    """Reject probes and hooks of another host: the node requests it, from its own network."""
    handlers = [(name, _get_mapping(container, name)) for name in _PROBES]
    lifecycle = _get_mapping(container, "lifecycle")
    handlers += [(f"lifecycle.{name}", _get_mapping(lifecycle, name)) for name in _HOOKS]
    for name, handler in handlers:
        for action in ("httpGet", "tcpSocket"):
            if _get_mapping(handler, action).get("host"):
                yield f"{path}.{name}.{action}.host cannot be set; it is the pod"


def _check_security(context: Template, fixed: dict[str, Any], path: str) -> Iterator[str]:
    yield from _find_differences(context, fixed, f"{path}.securityContext")
    for key in _get_mapping(context, "seLinuxOptions"):
        if key != "level":
            yield f"{path}.securityContext.seLinuxOptions.{key} cannot be set"
    profile = _get_mapping(context, "appArmorProfile").get("type", "RuntimeDefault")
    if profile not in ("RuntimeDefault", "Localhost"):
        yield f"{path}.securityContext.appArmorProfile cannot be {profile}"
    if context.get("runAsUser") == 0:
        yield f"{path}.securityContext.runAsUser must not be 0 (root)"


def _find_differences(found: Template, fixed: dict[str, Any], path: str) -> Iterator[str]:
    for key, value in fixed.items():
        if key in found and found[key] != value:
            cannot = "cannot be set" if value is None else f"cannot be changed from {value!r}"
            yield f"{path}.{key} {cannot}{_ALTERNATIVES.get(key, '')}"


def _get_mapping(parent: Template, key: str) -> Template:
    value = parent.get(key)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise TemplateError(f"podTemplate: {key} must be a mapping, found {type(value).__name__}")
    return value


def _get_entries(parent: Template, key: str) -> list[Template]:
    value = parent.get(key)
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
        raise TemplateError(f"podTemplate: {key} must be a list of mappings")
    return value
