"""Training kinds on a control plane; tests write the status in place of their controllers.

The CRDs have the groups, versions and names of the real ones and take any content; a test writes
the status that a controller would.
"""

from __future__ import annotations

import copy
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from bed.control_plane import ControlPlane
from cluster.operator.world import SPEC, World, eventually
from modelexport_api import GROUP, PLURAL, VERSION
from modelexport_api.trigger import TRIGGER_PLURAL
from modelexport_operator.triggers import labels
from modelexport_operator.triggers.kinds import TriggerSettings, WatchedKind

Object = dict[str, Any]
KINDS = {kind.kind: kind for kind in TriggerSettings().watched_kinds()}
CUSTOM = WatchedKind(api_version="example.com/v1", kind="Training", resource="trainings")
SECRET = WatchedKind(api_version="secret.example.com/v1", kind="Training", resource="trainings")


def crd(kind: WatchedKind) -> Object:
    """Return a CRD that accepts any content, with the status subresource."""
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = kind.api_version.rpartition("/")[2]
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": f"{kind.resource}.{kind.group}",
            "annotations": {"api-approved.kubernetes.io": "unapproved, a test"},
        },
        "spec": {
            "group": kind.group,
            "scope": "Namespaced",
            "names": {"kind": kind.kind, "plural": kind.resource, "singular": kind.kind.lower()},
            "versions": [
                {
                    "name": version,
                    "served": True,
                    "storage": True,
                    "subresources": {"status": {}},
                    "schema": {"openAPIV3Schema": anything},
                }
            ],
        },
    }


def install(plane: ControlPlane, *kinds: WatchedKind) -> None:
    """Install kinds and wait until they are served."""
    plane.apply(*(crd(kind) for kind in kinds))
    plane.wait_for_crds()


def now(seconds: int = 0) -> str:
    return (datetime.now(UTC) + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")


def dated(status: Object, when: str) -> Object:
    """Return a status in which every time is `when`."""
    found = copy.deepcopy(status)
    for entry in found.get("conditions", []):
        entry["lastTransitionTime"] = when
    for key in ("completionTime", "endTime", "startTime"):
        if key in found:
            found[key] = when
    return found


@dataclass
class Trainings:
    """Trainings and triggers in the namespace of a world."""

    world: World

    # Actions of users.

    def trigger(self, name: str, source: Object, **spec: Any) -> Object:  # noqa: ANN401 - JSON
        """Create a trigger whose exports take their source from the object's name."""
        template = {
            "spec": {
                **SPEC,
                "source": {"uri": "s3://models/$(metadata.name)/model.pt", "format": "StateDict"},
                "destination": {"uri": "s3://models/$(metadata.name)/onnx/"},
            }
        }
        body = {
            "apiVersion": f"{GROUP}/{VERSION}",
            "kind": "ModelExportTrigger",
            "metadata": {"name": name},
            "spec": {"source": source, "template": template, **spec},
        }
        made: Object = self.world.custom.create_namespaced_custom_object(
            GROUP, VERSION, self.world.namespace, TRIGGER_PLURAL, body
        )
        return made

    def change(self, name: str, **spec: Any) -> None:  # noqa: ANN401 - JSON
        self.world.custom.patch_namespaced_custom_object(
            GROUP, VERSION, self.world.namespace, TRIGGER_PLURAL, name, {"spec": spec}
        )

    def get(self, name: str) -> Object:
        found: Object = self.world.custom.get_namespaced_custom_object(
            GROUP, VERSION, self.world.namespace, TRIGGER_PLURAL, name
        )
        return found

    def create(self, kind: WatchedKind, name: str, **meta: Any) -> Object:  # noqa: ANN401 - JSON
        body = {
            "apiVersion": kind.api_version,
            "kind": kind.kind,
            "metadata": {"name": name, **meta},
            "spec": {},
        }
        made: Object = self.world.custom.create_namespaced_custom_object(*self._of(kind), body)
        return made

    def delete(self, kind: WatchedKind, name: str) -> None:
        self.world.custom.delete_namespaced_custom_object(*self._of(kind), name)

    # Actions of the kind's controller.

    def write(self, kind: WatchedKind, name: str, status: Object) -> None:
        self.world.custom.patch_namespaced_custom_object_status(
            *self._of(kind), name, {"status": status}
        )

    def done(self, kind: WatchedKind, name: str, status: Object, when: str | None = None) -> None:
        """Create a training that has this status at once."""
        self.create(kind, name)
        self.write(kind, name, dated(status, when or now()))

    # Observations.

    def ready(self, name: str, reason: str, seconds: float = 30.0) -> Object:
        """Wait until the condition Ready has the reason for the newest spec; return it."""

        def reached() -> Object | None:
            found = self.get(name)
            conditions = found.get("status", {}).get("conditions", [])
            return next(
                (
                    entry
                    for entry in conditions
                    if entry["reason"] == reason
                    and entry["observedGeneration"] == found["metadata"]["generation"]
                ),
                None,
            )

        return eventually(reached, f"trigger {name} has reason {reason}", seconds)

    def children(self, trigger: str) -> list[Object]:
        """Return the ModelExports that a trigger created, by the name of their source."""
        found = self.world.custom.list_namespaced_custom_object(
            GROUP,
            VERSION,
            self.world.namespace,
            PLURAL,
            label_selector=f"{labels.TRIGGER_LABEL}={trigger}",
        )
        return sorted((item for item in found["items"] if source_of(item)), key=source_of)

    def sources(self, trigger: str) -> list[str]:
        """Return the names of the objects that were exported."""
        return [source_of(child) for child in self.children(trigger)]

    def wait_for(self, trigger: str, *sources: str, seconds: float = 30.0) -> None:
        """Wait until exactly these have been exported and recorded."""
        wanted = sorted(sources)
        eventually(
            lambda: self.sources(trigger) == wanted,
            f"{trigger} exports {wanted}",
            seconds,
        )

    def count(self, trigger: str, what: str) -> int:
        found: int = self.get(trigger).get("status", {}).get(what, 0)
        return found

    def events(self, trigger: str) -> list[Object]:
        uid = self.get(trigger)["metadata"]["uid"]
        listed = self.world.core.list_namespaced_event(
            self.world.namespace,
            field_selector=f"involvedObject.uid={uid}",
            _preload_content=False,
        )
        items: list[Object] = self.world._json(listed)
        return items

    def reasons(self, trigger: str) -> list[str]:
        return sorted(event["reason"] for event in self.events(trigger))

    def finish(self, child: Object, when: str, phase: str = "Succeeded") -> None:
        """End an export without a pod."""
        kind = "Complete" if phase == "Succeeded" else "Failed"
        condition = {
            "type": kind,
            "status": "True",
            "reason": "Published",
            "message": "",
            "lastTransitionTime": when,
        }
        status = {"phase": phase, "completionTime": when, "conditions": [condition]}
        self.world.custom.patch_namespaced_custom_object_status(
            GROUP,
            VERSION,
            self.world.namespace,
            PLURAL,
            child["metadata"]["name"],
            {"status": status},
        )

    def _of(self, kind: WatchedKind) -> tuple[str, str, str, str]:
        version = kind.api_version.rpartition("/")[2]
        return kind.group, version, self.world.namespace, kind.resource


def source_of(child: Object) -> str:
    """Return the name of the object whose completion it was."""
    annotations: dict[str, str] = child["metadata"].get("annotations") or {}
    return annotations.get(labels.SOURCE_NAME_ANNOTATION, "")


def unlike() -> str:
    """Return a group that no other test uses."""
    return f"g{secrets.token_hex(3)}.example.com"
