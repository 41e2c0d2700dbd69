"""Build the Job of a ModelExport: the manifest only, no requests.

Pure, so that `modelexport render` prints what the operator would create. The name is a function
of the resource's uid: the API server answers 409 to a second creation.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from modelexport_api import KIND, immutability
from modelexport_api.isolation import Isolation
from modelexport_api.pod import (
    CONTAINER,
    MANIFEST_ENV,
    SIGNING_KEY_ENTRY,
    SIGNING_KEY_ENV,
    TERMINATION_LOG,
    WORK_DIR,
)
from modelexport_api.printable import message
from modelexport_api.reasons import PERMANENT_EXIT_CODES
from modelexport_api.resource import ModelExport
from modelexport_api.spec import ModelExportSpec
from modelexport_api.tracing import TRACEPARENT_ENV, context_of_export
from modelexport_operator import (
    claims,
    file_uris,
    indexed,
    names,
    pod_contract,
    pod_template,
    storage_defaults,
)
from modelexport_operator.pod_template import Template, TemplateError
from modelexport_operator.settings import Settings

USER = 65_532
ENV_LIMIT = 120 * 1024
"""Linux does not start a process with an environment variable above 128 KiB."""


class JobError(ValueError):
    """No Job can be built for a ModelExport; the message says what to change."""

    def __init__(self, text: str) -> None:
        super().__init__(message(text))


def job_name(name: str, uid: str, run: int = 1) -> str:
    """Return the name of the Job: the resource's, truncated, and a hash of its uid."""
    digest = hashlib.sha256(uid.encode()).hexdigest()[:8]
    suffix = f"-{digest}" if run == 1 else f"-{digest}-{run}"
    return names.fit_name(name, suffix)


def build(resource: ModelExport, settings: Settings, run: int = 1) -> dict[str, Any]:
    """Return the Job that exports the resource. Raises JobError."""
    meta, spec = resource.metadata, resource.spec
    labels = _labels(resource)
    template = _pod_template(resource, settings)
    template_meta = template.setdefault("metadata", {})
    template_meta["labels"] = {**(template_meta.get("labels") or {}), **labels}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": job_name(meta.name, meta.uid or "", run),
            **({"namespace": meta.namespace} if meta.namespace else {}),
            # Kueue reads them from the Job; it labels the pods itself.
            "labels": {**names.queue_labels(meta.labels), **labels},
            "annotations": {names.RUN_ANNOTATION: str(run)},
            "ownerReferences": [names.owner(KIND, meta.name, meta.uid or "")],
        },
        "spec": {
            "activeDeadlineSeconds": spec.active_deadline_seconds,
            **(indexed.shape(spec) if spec.source.is_batch else _single(spec)),
            "podReplacementPolicy": "Failed",
            "podFailurePolicy": _pod_failure_policy(),
            "template": template,
        },
    }


def _single(spec: ModelExportSpec) -> dict[str, Any]:
    return {"backoffLimit": spec.backoff_limit, "completions": 1, "parallelism": 1}


def _pod_failure_policy() -> dict[str, Any]:
    """Return the rules: ignore lost nodes, fail on user errors, retry everything else."""
    permanent = {"containerName": CONTAINER, "operator": "In", "values": [*PERMANENT_EXIT_CODES]}
    disruption = {"type": "DisruptionTarget", "status": "True"}
    return {
        "rules": [
            {"action": "Ignore", "onPodConditions": [disruption]},
            {"action": "FailJob", "onExitCodes": permanent},
        ]
    }


def _labels(resource: ModelExport) -> dict[str, str]:
    return {
        "app.kubernetes.io/name": "modelexport",
        "app.kubernetes.io/component": CONTAINER,
        "app.kubernetes.io/managed-by": names.COMPONENT,
        names.NAME_LABEL: names.fit_name(resource.metadata.name),
        names.UID_LABEL: resource.metadata.uid or "",
    }


def _pod_template(resource: ModelExport, settings: Settings) -> Template:
    users = resource.spec.pod_template or {}
    try:
        pod_contract.check(users, settings.token_audiences)
        merged = pod_template.merge(_base(resource, settings), settings.default_template, users)
        mounted = claims.mount(resource.spec, merged)
        template = pod_template.prune(pod_contract.harden(mounted))
        file_uris.check(resource.spec, template)
    except TemplateError as error:
        raise JobError(f"spec.{error}") from None
    return template


def _base(resource: ModelExport, settings: Settings) -> Template:
    """Return the template below all others: the contract with the exporter, and hardening."""
    pod: dict[str, Any] = {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": USER,
            "runAsGroup": USER,
            "fsGroup": USER,
            "fsGroupChangePolicy": "OnRootMismatch",
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [_container(resource, settings)],
        "volumes": [
            {"name": "work", "emptyDir": settings.work_volume.to_wire()},
            {"name": "tmp", "emptyDir": {}},
        ],
    }
    account = resource.spec.service_account_name or settings.service_account_name
    if account:
        pod["serviceAccountName"] = account
    return {
        "metadata": {"annotations": {"kubectl.kubernetes.io/default-container": CONTAINER}},
        "spec": pod,
    }


def _container(resource: ModelExport, settings: Settings) -> dict[str, Any]:
    container: dict[str, Any] = {
        "name": CONTAINER,
        "image": settings.exporter_image,
        "imagePullPolicy": settings.image_pull_policy,
        "env": _environment(resource, settings),
        "terminationMessagePath": TERMINATION_LOG,
        "terminationMessagePolicy": "File",
        "securityContext": {**pod_contract.HARDENED, "readOnlyRootFilesystem": True},
        "volumeMounts": [
            {"name": "work", "mountPath": WORK_DIR},
            {"name": "tmp", "mountPath": "/tmp"},  # noqa: S108 - the pod's, an emptyDir
        ],
    }
    storage = storage_defaults.resolve(resource.spec.storage, settings.storage)
    if storage.secret_name:
        container["envFrom"] = [{"secretRef": {"name": storage.secret_name}}]
    return container


def _environment(resource: ModelExport, settings: Settings) -> list[dict[str, Any]]:
    """Return the manifest, and what libraries need without a writable root or passwd entry."""
    return [
        *_signing_key(resource),
        {"name": MANIFEST_ENV, "value": _manifest(resource, settings)},
        *_trace(resource, settings),
        {"name": "HOME", "value": WORK_DIR},
        {"name": "USER", "value": CONTAINER},
        {"name": "XDG_CACHE_HOME", "value": f"{WORK_DIR}/.cache"},
        {"name": "PYTHONUNBUFFERED", "value": "1"},
    ]


def _signing_key(resource: ModelExport) -> list[dict[str, Any]]:
    """Return the key's variable; if the Secret is missing, the container does not start."""
    name = resource.spec.destination.signing_secret_name
    if name is None:
        return []
    key = {"secretKeyRef": {"name": name, "key": SIGNING_KEY_ENTRY}}
    return [{"name": SIGNING_KEY_ENV, "valueFrom": key}]


def _trace(resource: ModelExport, settings: Settings) -> list[dict[str, Any]]:
    """Return the variable that puts the pod's spans into the trace of the ModelExport."""
    uid = resource.metadata.uid
    if not settings.tracing.enabled or not uid:
        return []
    context = context_of_export(uid, settings.tracing.sample_ratio)
    return [{"name": TRACEPARENT_ENV, "value": context.traceparent}]


def _manifest(resource: ModelExport, settings: Settings) -> str:
    """Return the manifest for the pod, without podTemplate and mutable fields.

    Isolation is the stricter one of the spec's and the operator's.
    """
    wire = resource.to_wire()
    storage = storage_defaults.resolve(resource.spec.storage, settings.storage)
    wire["spec"]["storage"] = storage.to_wire()
    if settings.isolation is Isolation.REQUIRED:
        wire["spec"]["isolation"] = settings.isolation.value
    for key in ("podTemplate", *immutability.MUTABLE):
        wire["spec"].pop(key, None)
    for key in ("labels", "generation"):
        wire["metadata"].pop(key, None)
    text = json.dumps(wire, separators=(",", ":"), sort_keys=True)
    if len(text.encode()) > ENV_LIMIT:
        raise JobError(
            f"the spec is {len(text.encode())} bytes long, the limit is {ENV_LIMIT} bytes; "
            "shorten spec.model.kwargs"
        )
    return text
