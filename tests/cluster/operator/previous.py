"""Exports as the operator of the previous version left them, with their Jobs, written again.

chart/previous_objects.json has what was read from an API server when the operator of the previous
chart had run: specs, statuses and Jobs, and the termination messages of that version's pods. The
API server gives other UIDs, from which Jobs have their names, so that both are replaced.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from cluster.operator.world import Object, World
from modelexport_api import API_VERSION, GROUP, KIND, PLURAL, VERSION
from modelexport_operator import names
from modelexport_operator.job import job_name

RECORDED: Object = json.loads(
    (Path(__file__).resolve().parents[1] / "chart" / "previous_objects.json").read_text()
)
TERMINATIONS: dict[str, str] = RECORDED["terminations"]


@dataclass(frozen=True)
class Recorded:
    """An export of the previous version."""

    name: str
    uid: str
    spec: Object
    status: Object
    jobs: list[Object]

    def restore(self, world: World) -> None:
        """Create the export and its Job, and write its status as the operator had."""
        body = {"apiVersion": API_VERSION, "kind": KIND, "metadata": {"name": self.name}}
        made = world.custom.create_namespaced_custom_object(
            GROUP, VERSION, world.namespace, PLURAL, {**body, "spec": self.spec}
        )
        uid = made["metadata"]["uid"]
        written = {**body, "status": self._of(uid, self.status)}
        world.plane.kubectl(
            *("apply", "--server-side", "--subresource=status", "--namespace", world.namespace),
            *("--field-manager", names.STATUS_MANAGER, "--filename", "-"),
            stdin=json.dumps(written),
        )
        for job in self.jobs:
            world.batch.create_namespaced_job(world.namespace, self._of(uid, job))

    def _of(self, uid: str, recorded: Object) -> Object:
        """Return the object with the new UID in place of the recorded one."""
        text = json.dumps(recorded).replace(self.uid, uid)
        old, new = (job_name(self.name, one) for one in (self.uid, uid))
        found: Object = json.loads(text.replace(old, new))
        return found


EXPORTS = {entry["name"]: Recorded(**entry) for entry in RECORDED["exports"]}
