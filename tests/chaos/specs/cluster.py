"""The Job and the pods of one export, as random steps of Kubernetes and of people change them.

The objects are JSON as the API server has them, read by the operator's own readers.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from modelexport_api.reasons import PERMANENT_EXIT_CODES, ExitCode, Reason
from modelexport_api.status import Stage
from modelexport_operator import names
from unit.operator.objects import SUCCESS, Object, failure, result_of, share

_START = datetime(2026, 5, 1, 12, tzinfo=UTC)
_QUEUE = "gpu"
STEPS = (
    *("proceed",) * 24,
    *("no_node", "cannot_start", "evict_pod", "delete_pod", "lose_job", "queue", "admit", "admit"),
    *("toggle_suspend", "set_clock", "delete_job", "finish", "be_deleted"),
)
_WAITS = ("ImagePullBackOff", "CreateContainerConfigError", "ContainerCreating", "CrashLoopBackOff")
_REASONS = ("BackoffLimitExceeded", "DeadlineExceeded", "PodFailurePolicy", "FailedIndexes", "")


def _wire(when: datetime) -> str:
    return when.strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass
class Cluster:
    """One export, its Jobs (the last one may still exist) and the pods of that one."""

    draw: random.Random
    body: Object
    job: Object | None = None
    pods: list[Object] = field(default_factory=list)
    seconds: float = 0
    skew: float = 0
    """Of the operator's clock."""
    version: int = 10
    disturbed: bool = False
    """A Job was deleted by hand, or its results were lost: what ran may start again."""

    @property
    def now(self) -> datetime:
        """Return the time on the operator's clock."""
        return _START + timedelta(seconds=self.seconds + self.skew)

    def step(self, name: str) -> None:
        """Do one thing, if it is possible now."""
        self.seconds += self.draw.choice([0.2, 2, 7, 60])
        getattr(self, name)()

    def store_job(self, manifest: Object) -> Object:
        """Create a Job."""
        self.version += 1
        spec = manifest["spec"]
        meta = {
            **manifest["metadata"],
            "uid": f"job-{self.version}",
            "resourceVersion": str(self.version),
            "creationTimestamp": self._time(),
        }
        status = {"active": 1, "startTime": self._time()}
        self.job = {**manifest, "metadata": meta, "spec": dict(spec), "status": status}
        self.pods = []
        return self.job

    def write(self, **changes: Any) -> None:  # noqa: ANN401 - parts of the object
        """Store another version of the export."""
        self.version += 1
        meta = {**self.body["metadata"], "resourceVersion": str(self.version)}
        self.body = {**self.body, "metadata": meta, **changes}

    # What Kubernetes does.

    def proceed(self) -> None:
        """Do what comes next if nothing disturbs it."""
        pod = self._alive()
        if pod is None:
            (self.finish if self.pods else self.create_pod)()
            if self._open_job() is not None and self.draw.random() < 0.5:
                self.create_pod()
        elif "nodeName" not in pod["spec"]:
            self.schedule()
        elif pod["status"]["phase"] == "Pending":
            self.run()
        else:
            self.end()

    def create_pod(self) -> None:
        job = self._open_job()
        if job is None or job["spec"].get("suspend") or self._alive() is not None:
            return
        self.version += 1
        shares = job["spec"].get("completions", 1)
        index = {
            names.INDEX_ANNOTATION: str(self.draw.randrange(shares)),
            names.INDEX_FAILURES_ANNOTATION: str(self.draw.choice([0, 0, 1, 3])),
        }
        indexed = job["spec"].get("completionMode") == "Indexed"
        self.pods.append(
            {
                "metadata": {
                    "name": f"pod-{self.version}",
                    "uid": f"pod-{self.version}",
                    "creationTimestamp": self._time(),
                    "annotations": index if indexed else {},
                },
                "spec": {"containers": job["spec"]["template"]["spec"]["containers"]},
                "status": {"phase": "Pending", "conditions": [], "containerStatuses": []},
            }
        )

    def no_node(self) -> None:
        self._condition("PodScheduled", "False", "Unschedulable", "0/3 nodes are available")

    def schedule(self) -> None:
        pod = self._alive()
        if pod is not None and "nodeName" not in pod["spec"]:
            self._condition("PodScheduled", "True", "", "")
            pod["spec"] = {**pod["spec"], "nodeName": "node-1"}

    def cannot_start(self) -> None:
        reason = self.draw.choice(_WAITS)
        self._state({"waiting": {"reason": reason, "message": "no such image"}}, "Pending")

    def run(self) -> None:
        self._state({"running": {"startedAt": self._time()}}, "Running")

    def end(self) -> None:
        pod = self._alive()
        if pod is None or pod["status"]["phase"] != "Running":
            return
        code = self.draw.choice([*[0] * 8, 1, 137, 139, *map(int, ExitCode)])
        ended = {
            "exitCode": code,
            "reason": self.draw.choice(["Error", "OOMKilled"]) if code else "Completed",
            "startedAt": self._time(),
            "finishedAt": self._time(),
            "message": self._message(code),
        }
        self._state({"terminated": ended}, "Failed" if code else "Succeeded")

    def evict_pod(self) -> None:
        """Let the node vanish, or end the pod under pressure."""
        pod = self._alive()
        if pod is not None:
            self._condition("DisruptionTarget", "True", "DeletionByPodGC", "no node")
            pod["status"] |= {"phase": "Failed", "reason": self.draw.choice(["", "Evicted"])}

    def delete_pod(self) -> None:
        if self.pods:
            self.pods.pop(self.draw.randrange(len(self.pods)))
            self.disturbed = True

    def finish(self) -> None:
        """Let the Job controller end the Job as its pods say, or for a reason of its own."""
        job = self._open_job()
        if job is None:
            return
        codes = [self._exit_code(pod) for pod in self.pods]
        if "deletionTimestamp" in job["metadata"]:
            self.job, self.pods = None, []
        elif 0 in codes:
            shares = job["spec"].get("completions", 1)
            self._end_job("Complete", "", {"completedIndexes": f"0-{shares - 1}"})
        elif any(code in PERMANENT_EXIT_CODES for code in codes) or self.draw.random() < 0.05:
            self._end_job("Failed", self.draw.choice(_REASONS), {"failedIndexes": "0"})

    def queue(self) -> None:
        """Let Kueue hold the Job back, or preempt it."""
        job = self._open_job()
        if job is not None and job["metadata"].get("labels", {}).get(names.QUEUE_LABEL):
            job["spec"]["suspend"], self.pods = True, []

    def admit(self) -> None:
        job = self._open_job()
        if job is not None and job["spec"].get("suspend"):
            job["spec"]["suspend"] = False
            job["status"]["startTime"] = self._time()

    # What people do, and what else goes wrong.

    def lose_job(self) -> None:
        """Let the Job succeed without a readable result."""
        if self._open_job() is not None and self.draw.random() < 0.3:
            self.pods, self.disturbed = [], True
            self._end_job("Complete", "", {"completedIndexes": "0"})

    def delete_job(self) -> None:
        if self.draw.random() < 0.3 and self.job is not None:
            self.job, self.pods, self.disturbed = None, [], True

    def toggle_suspend(self) -> None:
        if self.body["spec"].get("suspend") or self.draw.random() < 0.2:
            meta, spec = self.body["metadata"], self.body["spec"]
            newer = {**meta, "generation": meta["generation"] + 1}
            self.write(spec={**spec, "suspend": not spec.get("suspend", False)})
            self.body["metadata"] |= {"generation": newer["generation"]}

    def set_clock(self) -> None:
        if self.draw.random() < 0.3:
            self.skew = self.draw.uniform(-3600, 3600)

    def be_deleted(self) -> None:
        if self.draw.random() < 0.03:
            self.body["metadata"]["deletionTimestamp"] = self._time()

    # Parts of the above.

    def _time(self) -> str:
        return _wire(_START + timedelta(seconds=self.seconds))

    def _open_job(self) -> Object | None:
        ended = self.job is None or self.job["status"].get("conditions")
        return None if ended else self.job

    def _alive(self) -> Object | None:
        last = self.pods[-1] if self.pods else None
        return last if last and last["status"]["phase"] in {"Pending", "Running"} else None

    def _condition(self, kind: str, status: str, reason: str, message: str) -> None:
        pod = self._alive()
        if pod is None:
            return
        kept = [entry for entry in pod["status"]["conditions"] if entry["type"] != kind]
        made = {"type": kind, "status": status, "reason": reason, "message": message}
        pod["status"]["conditions"] = [*kept, {**made, "lastTransitionTime": self._time()}]

    def _state(self, state: Object, phase: str) -> None:
        pod = self._alive()
        if pod is not None and "nodeName" in pod["spec"]:
            pod["status"] |= {
                "phase": phase,
                "containerStatuses": [{"name": "exporter", "state": state}],
            }

    def _exit_code(self, pod: Object) -> int | None:
        states = [entry["state"] for entry in pod["status"]["containerStatuses"]]
        found: int | None = next(
            (s["terminated"]["exitCode"] for s in states if "terminated" in s), None
        )
        return found

    def _end_job(self, kind: str, reason: str, indexes: Object) -> None:
        assert self.job is not None
        entry = {"type": kind, "status": "True", "reason": reason}
        condition = {**entry, "lastTransitionTime": self._time()}
        if self.job["spec"].get("completionMode") != "Indexed":
            indexes = {}
        self.job["status"] = {"succeeded": 1, **indexes, "conditions": [condition]}

    def _message(self, code: int) -> str:
        """Draw what the pod wrote: its result, another's, none, or bytes of the user's code."""
        reason = self.draw.choice(list(Reason))
        made = SUCCESS if code == 0 else failure(reason, self.draw.choice(list(Stage)))
        if code == 0 and self.draw.random() < 0.4:
            made = result_of(share(0, self.draw.choice([1, 3]), self.draw.choice([0, 0, 2])))
        text = made.model_dump_json(by_alias=True)
        return self.draw.choice([text, text, text, text, "", text[: len(text) // 2], '{"a": 1}'])
