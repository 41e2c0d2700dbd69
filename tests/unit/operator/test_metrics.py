"""What /metrics exposes is what docs/observability.md lists, with bounded labels."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families

from modelexport_api.reasons import Reason
from modelexport_api.status import Phase, Stage
from modelexport_operator import metrics_catalogue as catalogue
from modelexport_operator.cache import Cache
from modelexport_operator.metrics import LiveSources, Metrics
from modelexport_operator.triggers.metrics import TriggerMetrics
from unit.operator.objects import export_body

PAGE = Path(__file__).resolve().parents[3] / "docs" / "observability.md"


@pytest.fixture
def scraped() -> dict[str, tuple[str, str, set[str]]]:
    """Everything that can be exposed: name to type, meaning and labels."""
    metrics = Metrics()
    triggers = TriggerMetrics(metrics.registry)
    triggers.read_live(lambda: {"Watching": 1})
    triggers.triggered.labels("PyTorchJob").inc()
    triggers.skipped.labels("InvalidExport").inc()
    metrics.request("GET", "pods", 200)
    metrics.watch_restarted("jobs", "Expired")
    metrics.export_done(Phase.SUCCEEDED, "Published", 12.0)
    metrics.read_live(
        LiveSources(
            phases=dict,
            waiting_since=dict,
            clock=lambda: 0.0,
            depth=lambda: 0,
            oldest=lambda: 0.0,
            stalled=lambda: 0.0,
            retrying=lambda: 0,
            list_age=lambda: 0.0,
        )
    )
    found = {}
    for family in text_string_to_metric_families(generate_latest(metrics.registry).decode()):
        name = f"{family.name}_total" if family.type == "counter" else family.name
        labels = {key for sample in family.samples for key in sample.labels} - {"le"}
        if name.startswith("modelexport_") and not name.endswith("_created"):
            found[name] = family.type, family.documentation, labels
    return found


def test_the_catalogue_is_what_is_exposed(scraped: dict[str, tuple[str, str, set[str]]]) -> None:
    listed = {spec.name: (spec.kind, spec.meaning, set(spec.labels)) for spec in catalogue.ALL}
    assert scraped == listed


def test_the_page_has_the_table() -> None:
    assert catalogue.table() in PAGE.read_text()


def test_no_label_can_have_the_name_of_an_object() -> None:
    labels = {label for spec in catalogue.ALL for label in spec.labels}
    assert labels == {"phase", "reason", "stage", "outcome", "verb", "resource", "code", "kind"}


def test_series_of_failures_start_at_zero() -> None:
    """`increase` misses the first value of a series that did not exist before."""
    text = generate_latest(Metrics().registry).decode()
    for reason in Reason:
        assert f'modelexport_finished_total{{phase="Failed",reason="{reason}"}} 0.0' in text
    assert len(re.findall(r"modelexport_stage_seconds_count", text)) == len(Stage)


def test_the_age_in_a_phase_starts_at_the_last_transition() -> None:
    cache = Cache()
    moved = {"type": "Scheduled", "status": "False", "lastTransitionTime": "2026-05-01T12:00:05Z"}
    queued = {"phase": "Queued", "conditions": [moved]}
    for uid, status in (("a", {}), ("b", {"conditions": [moved]}), ("c", queued)):
        created = "2026-05-01T12:00:00Z"
        cache.put_resource(export_body(uid=uid, status=status, creationTimestamp=created))
    since = cache.waiting_since()
    assert since["Queued"] - since["Pending"] == 5
