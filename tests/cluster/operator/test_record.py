"""What the operator of this version leaves: build/this_version.json, for the tests of the next one.

At a release it becomes chart/previous_objects.json, as the chart becomes previous.tgz.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cluster.operator import previous
from cluster.operator.replica import Operators
from cluster.operator.test_batches import DESTINATION, SOURCE, result
from cluster.operator.world import SUCCESS, Object, World, eventually, failure
from modelexport_api.pod import encode_termination
from modelexport_api.reasons import ExitCode, Reason
from modelexport_api.status import Stage
from unit.operator.objects import share

pytestmark = [pytest.mark.control_plane, pytest.mark.nightly]

FILE = Path(__file__).resolve().parents[3] / "build" / "this_version.json"
REFUSED = failure(Reason.VERIFICATION_FAILED, Stage.VERIFY, [Stage.FETCH])
BUSY = failure(Reason.STORE_UNAVAILABLE, Stage.FETCH, [])
ENDS = {
    "succeeded": (ExitCode.DONE, SUCCESS),
    "failed": (ExitCode.VERIFICATION, REFUSED),
    "retrying": (ExitCode.RETRYABLE, BUSY),
}
TERMINATIONS = {
    "Succeeded": SUCCESS,
    "Failed": REFUSED,
    "share 0": result(share(0, 3)),
    "share 1": result(share(1, 2)),
}
OF_THE_CONTROLLER = {"controller-uid", "job-name"}
"""The last parts of labels that Kubernetes gives the pods of a Job."""


def recorded_job(job: Object) -> Object:
    """Return what a Job was created with."""
    meta, spec = job["metadata"], job["spec"]
    labels = spec["template"]["metadata"]["labels"]
    kept = {k: v for k, v in labels.items() if k.rpartition("/")[2] not in OF_THE_CONTROLLER}
    spec["template"]["metadata"]["labels"] = kept
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            key: meta[key] for key in ("name", "labels", "annotations", "ownerReferences")
        },
        "spec": {k: v for k, v in spec.items() if k not in {"selector", "manualSelector"}},
    }


def recorded(world: World, name: str) -> Object:
    export = world.export(name)
    jobs = [] if export["status"].get("completionTime") else world.jobs(name)
    return {
        "name": name,
        "uid": export["metadata"]["uid"],
        "spec": export["spec"],
        "status": export["status"],
        "jobs": [recorded_job(job) for job in jobs],
    }


def test_each_state_is_recorded(world: World, operators: Operators) -> None:
    operators.start()
    world.create("suspended", suspend=True)
    world.create("folds", source=SOURCE, destination=DESTINATION, parallelism=2)
    for name in ("waiting", "running", *ENDS):
        world.create(name)
    for name in ("running", *ENDS):
        world.run_pod(world.live_pod(name))
        world.wait_for_phase(name, "Running")
    for pod in eventually(lambda: world.pods("folds")[1:] and world.pods("folds"), "both shares"):
        world.run_pod(pod["metadata"]["name"])
    for name, (code, said) in ENDS.items():
        world.end_pod(world.live_pod(name), code, said)
    world.wait_for("succeeded", "Complete")
    world.wait_for("failed", "Failed")
    eventually(lambda: "Retrying" in str(world.export("retrying")["status"]), "it is retried")
    world.wait_for_phase("folds", "Running")
    world.wait_for_phase("waiting", "Pending")
    made: Object = {
        "about": "Recorded by tests/cluster/operator/test_record.py.",
        "terminations": {key: encode_termination(said) for key, said in TERMINATIONS.items()},
        "exports": [recorded(world, name) for name in previous.EXPORTS],
    }
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text(json.dumps(made, indent=1) + "\n")
    assert made.keys() == previous.RECORDED.keys()
    for before, now in zip(previous.RECORDED["exports"], made["exports"], strict=True):
        assert before.keys() == now.keys()
        assert len(before["jobs"]) == len(now["jobs"])
