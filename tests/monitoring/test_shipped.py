"""Alert rules and dashboard: they read metrics that exist, and every alert has a runbook."""

from __future__ import annotations

import re

import pytest

from modelexport_operator import metrics_catalogue as catalogue
from monitoring import shipped

KNOWN = {spec.name for spec in catalogue.ALL}
RUNBOOKS = (shipped.ROOT / "docs" / "observability.md").read_text()
QUERIES = [*shipped.panel_queries(), *((a["alert"], a["expr"]) for a in shipped.alerts())]


@pytest.mark.parametrize(("where", "query"), QUERIES)
def test_queries_read_metrics_that_exist(where: str, query: str) -> None:
    names = {name for name in shipped.metric_names(query) if not name.startswith("process_")}
    assert names <= KNOWN, where


@pytest.mark.parametrize("rule", shipped.alerts(), ids=lambda rule: rule["alert"])
def test_every_alert_has_severity_texts_and_runbook(rule: shipped.Object) -> None:
    name, notes = rule["alert"], rule["annotations"]
    assert rule["labels"]["severity"] in {"warning", "critical"}
    assert notes["summary"]
    assert notes["description"]
    assert notes["runbook"] == f"docs/observability.md#{name.lower()}"
    section = RUNBOOKS.partition(f"### {name}\n")[2].partition("\n##")[0]
    assert section.lower().startswith(rule["labels"]["severity"])


def test_the_dashboard_selects_its_data_source_and_namespace() -> None:
    found = shipped.dashboard()
    assert [entry["name"] for entry in found["templating"]["list"]] == ["datasource", "namespace"]
    assert found["id"] is None, "Grafana gives the number"
    assert found["uid"] == "modelexport-operator"
    for panel in shipped.panels():
        for target in panel["targets"]:
            assert target["datasource"] == {"type": "prometheus", "uid": "${datasource}"}
            assert 'namespace=~"$namespace"' in target["expr"], panel["title"]
            legend = re.findall(r"{{(\w+)}}", target["legendFormat"])
            assert all(label in {"pod", "instance"} or label in target["expr"] for label in legend)


def test_panels_have_their_own_place_and_number() -> None:
    panels = shipped.dashboard()["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    cells = [
        (place["x"] + x, place["y"] + y)
        for place in (panel["gridPos"] for panel in panels)
        for x in range(place["w"])
        for y in range(place["h"])
    ]
    assert len(set(cells)) == len(cells)
    assert max(x for x, _ in cells) < 24
