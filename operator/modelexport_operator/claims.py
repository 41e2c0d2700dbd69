"""The volumes of pvc:// URIs: each claim that a spec names is mounted into the exporter. Pure.

A claim is mounted whole and without subPath, which the kubelet resolves through links of the
volume; what is below the mount is opened by the exporter, which follows no link out of it. It is
read-only, unless the artifact is published to it. The template of the user cannot take the name or
the path of such a volume.
"""

from __future__ import annotations

import hashlib
import posixpath
from typing import Any

from modelexport_api.claims import CLAIMS_DIR, claims_of, mount_path
from modelexport_api.pod import CONTAINER
from modelexport_api.spec import ModelExportSpec
from modelexport_operator.pod_template import Template, TemplateError

_PATH = "podTemplate.spec.containers[exporter].volumeMounts"


def mount(spec: ModelExportSpec, template: Template) -> Template:
    """Return the template with the claims of the spec. Raises TemplateError."""
    claims = claims_of(spec)
    if not claims:
        return template
    pod = template["spec"]
    volumes = list(pod.get("volumes") or [])
    containers = list(pod["containers"])
    index = next(n for n, entry in enumerate(containers) if entry["name"] == CONTAINER)
    mounts = list(containers[index].get("volumeMounts") or [])
    _check_paths(mounts)
    for claim, written in claims.items():
        volume = _volume_of(claim, volumes, written=written)
        if volume is None:
            volume = _new_volume(claim, volumes, written=written)
            volumes.append(volume)
        mounts.append(
            {"name": volume["name"], "mountPath": mount_path(claim), "readOnly": not written}
        )
    containers[index] = {**containers[index], "volumeMounts": mounts}
    return {**template, "spec": {**pod, "volumes": volumes, "containers": containers}}


def volume_name(claim: str) -> str:
    """Return the name of a claim's volume: a claim's own name may be too long for one."""
    return f"claim-{hashlib.sha256(claim.encode()).hexdigest()[:10]}"


def _volume_of(claim: str, volumes: list[Any], *, written: bool) -> Template | None:
    """Return the template's volume of a claim: the kubelet need not mount it twice."""
    for volume in volumes:
        source = volume.get("persistentVolumeClaim") or {}
        if source.get("claimName") != claim:
            continue
        if written and source.get("readOnly"):
            raise TemplateError(
                f"podTemplate.spec.volumes[{volume['name']}] is readOnly, and destination.uri is "
                f"in its claim {claim}; remove readOnly, or publish to another claim"
            )
        found: Template = volume
        return found
    return None


def _new_volume(claim: str, volumes: list[Any], *, written: bool) -> Template:
    name = volume_name(claim)
    if any(volume.get("name") == name for volume in volumes):
        raise TemplateError(
            f"podTemplate.spec.volumes[{name}] has the name of the volume of pvc://{claim}/; "
            "choose another name"
        )
    source = {"claimName": claim, **({} if written else {"readOnly": True})}
    return {"name": name, "persistentVolumeClaim": source}


def _check_paths(mounts: list[Any]) -> None:
    for entry in mounts:
        path = posixpath.normpath("/" + str(entry.get("mountPath", "")).lstrip("/"))
        if path == CLAIMS_DIR or path.startswith(f"{CLAIMS_DIR}/") or path == "/":
            raise TemplateError(
                f"{_PATH}: {entry.get('mountPath')} is where the claims of pvc:// URIs are "
                f"mounted ({CLAIMS_DIR}); choose another path"
            )
