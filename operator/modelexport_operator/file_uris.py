"""file:// destinations: allowed only in a volume that outlives the pod.

A pod's own file system is deleted with the pod. An export that published there would be Complete
without an artifact, so it is rejected before the pod starts.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

from modelexport_api.pod import CONTAINER
from modelexport_api.spec import ModelExportSpec
from modelexport_operator.pod_template import Template, TemplateError

_EPHEMERAL = {"emptyDir", "ephemeral"}
_HINT = (
    "is a path in the pod's own file system, which is deleted with the pod; use s3://, or mount a "
    "persistentVolumeClaim at this path with spec.podTemplate"
)


def check(spec: ModelExportSpec, template: Template) -> None:
    """Raise TemplateError if the artifact would be published to the pod's own file system."""
    uri = urlsplit(spec.destination.uri)
    if uri.scheme == "file" and not _is_kept(PurePosixPath(unquote(uri.path)), template["spec"]):
        raise TemplateError(f"destination.uri: {spec.destination.uri} {_HINT}")


def _is_kept(path: PurePosixPath, pod: Template) -> bool:
    """Return whether the path is in a volume that outlives the pod."""
    exporter = next(c for c in pod["containers"] if c["name"] == CONTAINER)
    mounts = [m for m in _dicts(exporter.get("volumeMounts")) if _contains(m, path)]
    if not mounts:
        return False
    nearest = max(mounts, key=lambda mount: len(PurePosixPath(mount["mountPath"]).parts))
    volumes = [v for v in _dicts(pod.get("volumes")) if v.get("name") == nearest.get("name")]
    return any(not _EPHEMERAL & volume.keys() for volume in volumes)


def _contains(mount: Template, path: PurePosixPath) -> bool:
    return path.is_relative_to(str(mount.get("mountPath")))


def _dicts(entries: Any) -> list[Template]:  # noqa: ANN401 - a part of a template
    return [entry for entry in entries or [] if isinstance(entry, dict)]
