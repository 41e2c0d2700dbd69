"""The Prometheus metrics of triggers. Metric names are a stable API."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from prometheus_client import CollectorRegistry, Counter
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector


class TriggerMetrics:
    """The metrics of all triggers."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._registry = registry
        self.triggered = Counter(
            "modelexport_triggered",
            "Number of ModelExports that triggers created, by the kind that completed.",
            ["kind"],
            registry=registry,
        )
        self.skipped = Counter(
            "modelexport_trigger_skipped",
            "Number of completions without a ModelExport, by reason.",
            ["reason"],
            registry=registry,
        )

    def read_live(self, reasons: Callable[[], Mapping[str, int]]) -> None:
        """Collect the triggers by the reason of their condition Ready at each scrape."""
        self._registry.register(_Live(reasons))


class _Live(Collector):
    def __init__(self, reasons: Callable[[], Mapping[str, int]]) -> None:
        self._reasons = reasons

    def collect(self) -> Iterator[Metric]:
        """Return the current gauge."""
        found = GaugeMetricFamily(
            "modelexport_triggers",
            "Number of ModelExportTriggers, by the reason of their condition Ready.",
            labels=["reason"],
        )
        for reason, count in sorted(self._reasons().items()):
            found.add_metric([reason], count)
        yield found
