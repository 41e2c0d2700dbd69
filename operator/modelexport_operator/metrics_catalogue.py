"""All Prometheus metrics: names, types, labels and meaning. Names and labels are a stable API.

The table in docs/observability.md is `table()`. Values of labels come from closed lists: no label
has the name or the namespace of an object, so that the number of series does not grow with the
cluster.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

_STAGE_BUCKETS = (1, 2, 5, 10, 20, 60, 120, 300, 600, 1800, 3600, 7200)
_EXPORT_BUCKETS = (10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21_600, 86_400)
_JOB_BUCKETS = (0.5, 1, 2, 5, 10, 30, 60, 300, 1800, 7200)
_RECONCILE_BUCKETS = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 30)


@dataclass(frozen=True)
class MetricSpec:
    """One metric as it is exposed."""

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    labels: tuple[str, ...]
    meaning: str
    buckets: tuple[float, ...] = ()


EXPORTS = MetricSpec(
    "modelexport_exports", "gauge", ("phase",), "Number of ModelExports, by phase."
)
OLDEST = MetricSpec(
    "modelexport_oldest_seconds",
    "gauge",
    ("phase",),
    "Seconds since the last transition of a condition of the ModelExport that has waited longest "
    "in the phase Pending, Queued or Running.",
)
FINISHED = MetricSpec(
    "modelexport_finished_total",
    "counter",
    ("phase", "reason"),
    "Finished ModelExports, by phase and reason. Reasons of failures are those of docs/reasons.md.",
)
EXPORT_SECONDS = MetricSpec(
    "modelexport_export_seconds",
    "histogram",
    ("phase",),
    "Seconds from the creation of a ModelExport to its end, queueing included.",
    _EXPORT_BUCKETS,
)
JOB_SECONDS = MetricSpec(
    "modelexport_job_creation_seconds",
    "histogram",
    (),
    "Seconds from the creation of a ModelExport to the creation of its first Job.",
    _JOB_BUCKETS,
)
STAGE_SECONDS = MetricSpec(
    "modelexport_stage_seconds",
    "histogram",
    ("stage",),
    "Seconds of the stages of single exports, as the pods' logs report them; a stage shorter than "
    "the interval of reading (2 s) may be missing.",
    _STAGE_BUCKETS,
)
QUEUE_DEPTH = MetricSpec("modelexport_queue_depth", "gauge", (), "Number of keys that are due.")
QUEUE_OLDEST = MetricSpec(
    "modelexport_queue_oldest_seconds",
    "gauge",
    (),
    "Seconds for which the oldest key has been due or in progress.",
)
QUEUE_STALLED = MetricSpec(
    "modelexport_queue_stalled_seconds",
    "gauge",
    (),
    "Seconds in which something was due and nothing has finished; /healthz fails above "
    "stalledSeconds.",
)
QUEUE_RETRYING = MetricSpec(
    "modelexport_queue_retrying", "gauge", (), "Number of keys whose last attempt failed."
)
RECONCILE_SECONDS = MetricSpec(
    "modelexport_reconcile_seconds",
    "histogram",
    ("outcome",),
    "Seconds of one reconciliation, by outcome: ok, gone, conflict, delayed (the Job cannot be "
    "created now), refused (the API server answered with an error or not at all), error (a bug).",
    _RECONCILE_BUCKETS,
)
API_REQUESTS = MetricSpec(
    "modelexport_api_requests_total",
    "counter",
    ("verb", "resource", "code"),
    "Requests to the API server; code 0 means no response.",
)
WATCH_RESTARTS = MetricSpec(
    "modelexport_watch_restarts_total",
    "counter",
    ("resource", "reason"),
    "Watches of ModelExports and Jobs that were started again after an error, by the reason in the "
    "API server's answer.",
)
LIST_AGE = MetricSpec(
    "modelexport_list_age_seconds",
    "gauge",
    (),
    "Seconds since everything was last listed; at most 1.2 times resyncSeconds and 240 s, the "
    "duration of a watch.",
)
LEADER = MetricSpec(
    "modelexport_leader", "gauge", (), "1 if this replica is the leader, otherwise 0."
)
TRIGGERS = MetricSpec(
    "modelexport_triggers",
    "gauge",
    ("reason",),
    "Number of ModelExportTriggers, by the reason of their condition Ready.",
)
TRIGGERED = MetricSpec(
    "modelexport_triggered_total",
    "counter",
    ("kind",),
    "ModelExports that triggers created, by the kind that completed.",
)
TRIGGER_SKIPPED = MetricSpec(
    "modelexport_trigger_skipped_total",
    "counter",
    ("reason",),
    "Completions without a ModelExport, by reason.",
)

ALL = (
    EXPORTS,
    OLDEST,
    FINISHED,
    EXPORT_SECONDS,
    JOB_SECONDS,
    STAGE_SECONDS,
    QUEUE_DEPTH,
    QUEUE_OLDEST,
    QUEUE_STALLED,
    QUEUE_RETRYING,
    RECONCILE_SECONDS,
    API_REQUESTS,
    WATCH_RESTARTS,
    LIST_AGE,
    LEADER,
    TRIGGERS,
    TRIGGERED,
    TRIGGER_SKIPPED,
)


def table() -> str:
    """Return the metrics as a table in Markdown."""
    rows = ["| metric | type | labels | meaning |", "|---|---|---|---|"]
    for spec in ALL:
        labels = ", ".join(f"`{label}`" for label in spec.labels)
        rows.append(f"| `{spec.name}` | {spec.kind} | {labels} | {spec.meaning} |")
    return "\n".join(rows) + "\n"
