"""The Prometheus metrics of the operator; `metrics_catalogue` describes them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from modelexport_api.reasons import Reason
from modelexport_api.status import Phase, Stage
from modelexport_operator import metrics_catalogue as catalogue
from modelexport_operator.metrics_catalogue import MetricSpec

OUTCOMES = ("ok", "gone", "conflict", "delayed", "refused", "error")
WAITING = (Phase.PENDING, Phase.QUEUED, Phase.RUNNING)
_ENDS = (Phase.SUCCEEDED, Phase.FAILED)


def counter(spec: MetricSpec, registry: CollectorRegistry) -> Counter:
    """Return a counter; the library appends _total to its name."""
    name = spec.name.removesuffix("_total")
    return Counter(name, spec.meaning, spec.labels, registry=registry)


def gauge_family(spec: MetricSpec) -> GaugeMetricFamily:
    """Return a gauge whose values are collected at each scrape."""
    return GaugeMetricFamily(spec.name, spec.meaning, labels=spec.labels)


def _histogram(spec: MetricSpec, registry: CollectorRegistry) -> Histogram:
    return Histogram(spec.name, spec.meaning, spec.labels, buckets=spec.buckets, registry=registry)


@dataclass(frozen=True)
class LiveSources:
    """What is read at each scrape."""

    phases: Callable[[], Mapping[str, int]]
    waiting_since: Callable[[], Mapping[str, float]]
    """The earliest time at which a ModelExport entered its state, by phase."""
    clock: Callable[[], float]
    depth: Callable[[], int]
    oldest: Callable[[], float]
    stalled: Callable[[], float]
    retrying: Callable[[], int]
    list_age: Callable[[], float]


class Metrics:
    """All metrics of the operator, in their own registry."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.finished = counter(catalogue.FINISHED, self.registry)
        self.export_seconds = _histogram(catalogue.EXPORT_SECONDS, self.registry)
        self.job_seconds = _histogram(catalogue.JOB_SECONDS, self.registry)
        self.stage_seconds = _histogram(catalogue.STAGE_SECONDS, self.registry)
        self.reconcile_seconds = _histogram(catalogue.RECONCILE_SECONDS, self.registry)
        self.api_requests = counter(catalogue.API_REQUESTS, self.registry)
        self.watch_restarts = counter(catalogue.WATCH_RESTARTS, self.registry)
        self.leader = Gauge(catalogue.LEADER.name, catalogue.LEADER.meaning, registry=self.registry)
        ProcessCollector(registry=self.registry)
        self._create_series()

    def _create_series(self) -> None:
        """Start closed lists at 0: `increase` misses the first value of a series that appears."""
        for reason in Reason:
            self.finished.labels(Phase.FAILED, reason)
        for end in _ENDS:
            self.export_seconds.labels(end)
        for stage in Stage:
            self.stage_seconds.labels(stage)
        for outcome in OUTCOMES:
            self.reconcile_seconds.labels(outcome)

    def request(self, verb: str, resource: str, status: int) -> None:
        """Count a request to the API server."""
        self.api_requests.labels(verb, resource, str(status)).inc()

    def watch_restarted(self, resource: str, reason: str) -> None:
        """Count a watch that is started again after an error."""
        self.watch_restarts.labels(resource, reason).inc()

    def stage_done(self, stage: Stage, seconds: float) -> None:
        """Record the duration of a stage."""
        self.stage_seconds.labels(stage).observe(seconds)

    def export_done(self, phase: Phase, reason: str, seconds: float | None) -> None:
        """Record the end of an export."""
        self.finished.labels(phase, reason).inc()
        if seconds is not None:
            self.export_seconds.labels(phase).observe(max(0.0, seconds))

    def read_live(self, sources: LiveSources) -> None:
        """Collect the state of cache, queue and watches at each scrape."""
        self.registry.register(_Live(sources))


class _Live(Collector):
    def __init__(self, sources: LiveSources) -> None:
        self._sources = sources

    def collect(self) -> Iterator[Metric]:
        """Return the current gauges."""
        sources = self._sources
        exports, found = gauge_family(catalogue.EXPORTS), sources.phases()
        for phase in Phase:
            exports.add_metric([phase], found.get(phase, 0))
        yield exports
        waiting, since, now = (
            gauge_family(catalogue.OLDEST),
            sources.waiting_since(),
            sources.clock(),
        )
        for phase in WAITING:
            waiting.add_metric([phase], max(0.0, now - since.get(phase, now)))
        yield waiting
        for spec, read in (
            (catalogue.QUEUE_DEPTH, sources.depth),
            (catalogue.QUEUE_OLDEST, sources.oldest),
            (catalogue.QUEUE_STALLED, sources.stalled),
            (catalogue.QUEUE_RETRYING, sources.retrying),
            (catalogue.LIST_AGE, sources.list_age),
        ):
            value = gauge_family(spec)
            value.add_metric([], read())
            yield value
