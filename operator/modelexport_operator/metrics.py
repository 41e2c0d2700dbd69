"""The Prometheus metrics. Metric names are a stable API."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from modelexport_api.status import Phase, Stage

_STAGE_BUCKETS = (1, 2, 5, 10, 20, 60, 120, 300, 600, 1800, 3600, 7200)


class Metrics:
    """All metrics of the operator, in their own registry."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.finished = Counter(
            "modelexport_finished",
            "Number of finished ModelExports, by phase and reason.",
            ["phase", "reason"],
            registry=self.registry,
        )
        self.stage_seconds = Histogram(
            "modelexport_stage_seconds",
            "Duration of stages in seconds, as reported in the pods' logs.",
            ["stage"],
            buckets=_STAGE_BUCKETS,
            registry=self.registry,
        )
        self.reconcile_seconds = Histogram(
            "modelexport_reconcile_seconds",
            "Duration of one reconciliation in seconds.",
            ["outcome"],
            registry=self.registry,
        )
        self.api_requests = Counter(
            "modelexport_api_requests",
            "Number of requests to the API server; code 0 means no response.",
            ["verb", "resource", "code"],
            registry=self.registry,
        )
        self.watch_restarts = Counter(
            "modelexport_watch_restarts",
            "Number of watches that were started again after an error, by resource and reason.",
            ["resource", "reason"],
            registry=self.registry,
        )
        self.leader = Gauge(
            "modelexport_leader",
            "1 if this replica is the leader, otherwise 0.",
            registry=self.registry,
        )

    def request(self, verb: str, resource: str, status: int) -> None:
        """Count a request to the API server."""
        self.api_requests.labels(verb, resource, str(status)).inc()

    def watch_restarted(self, resource: str, reason: str) -> None:
        """Count a watch that is started again after an error."""
        self.watch_restarts.labels(resource, reason).inc()

    def stage_done(self, stage: Stage, seconds: float) -> None:
        """Record the duration of a stage."""
        self.stage_seconds.labels(stage).observe(seconds)

    def read_live(
        self,
        phases: Callable[[], Mapping[str, int]],
        depth: Callable[[], int],
        oldest: Callable[[], float],
    ) -> None:
        """Collect phases and queue state at each scrape."""
        self.registry.register(_Live(phases, depth, oldest))


class _Live(Collector):
    def __init__(
        self,
        phases: Callable[[], Mapping[str, int]],
        depth: Callable[[], int],
        oldest: Callable[[], float],
    ) -> None:
        self._phases = phases
        self._depth = depth
        self._oldest = oldest

    def collect(self) -> Iterator[Metric]:
        """Return the current gauges."""
        exports = GaugeMetricFamily(
            "modelexport_exports", "Number of ModelExports by phase.", labels=["phase"]
        )
        found = self._phases()
        for phase in Phase:
            exports.add_metric([phase], found.get(phase, 0))
        yield exports
        yield GaugeMetricFamily(
            "modelexport_queue_depth", "Number of keys that are due.", self._depth()
        )
        yield GaugeMetricFamily(
            "modelexport_queue_oldest_seconds",
            "Waiting time of the oldest due key in seconds.",
            self._oldest(),
        )
