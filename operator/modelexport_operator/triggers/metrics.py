"""The Prometheus metrics of triggers; `metrics_catalogue` describes them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from prometheus_client import CollectorRegistry
from prometheus_client.core import Metric
from prometheus_client.registry import Collector

from modelexport_operator import metrics_catalogue as catalogue
from modelexport_operator.metrics import counter, gauge_family


class TriggerMetrics:
    """The metrics of all triggers."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._registry = registry
        self.triggered = counter(catalogue.TRIGGERED, registry)
        self.skipped = counter(catalogue.TRIGGER_SKIPPED, registry)

    def read_live(self, reasons: Callable[[], Mapping[str, int]]) -> None:
        """Collect the triggers by the reason of their condition Ready at each scrape."""
        self._registry.register(_Live(reasons))


class _Live(Collector):
    def __init__(self, reasons: Callable[[], Mapping[str, int]]) -> None:
        self._reasons = reasons

    def collect(self) -> Iterator[Metric]:
        """Return the current gauge."""
        found = gauge_family(catalogue.TRIGGERS)
        for reason, count in sorted(self._reasons().items()):
            found.add_metric([reason], count)
        yield found
