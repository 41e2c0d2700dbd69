"""The dashboard as a picture."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from monitoring import shipped
from monitoring.drawing import Series, shown, svg

NAMESPACE = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize(
    ("value", "unit", "expected"),
    [
        (0, "s", "0 s"),
        (0.0123, "s", "12.3 ms"),
        (75.4, "s", "75.4 s"),
        (75 * 2**20, "bytes", "75 MiB"),
        (0.25, "percentunit", "25.0%"),
        (3, "short", "3"),
        (2930.4, "short", "2,930"),
    ],
)
def test_a_value_has_its_unit(value: float, unit: str, expected: str) -> None:
    assert shown(value, unit) == expected


def test_every_panel_of_the_dashboard_is_drawn() -> None:
    """Lines, bars and numbers where there is data, "No data" where there is none."""
    lines = [Series("<a>", ((0.0, 1.0), (30.0, 2.0))), Series("b", ((0.0, 0.0),))]
    found = {panel["title"]: lines for panel in shipped.panels()}
    del found["Memory"]
    root = ET.fromstring(svg(shipped.dashboard()["panels"], found))
    texts = [element.text for element in root.iter(f"{NAMESPACE}text")]
    assert {panel["title"] for panel in shipped.dashboard()["panels"]} <= set(texts)
    assert texts.count("No data") == 1
    kinds = [panel["type"] for panel in shipped.panels() if panel["title"] != "Memory"]
    drawn = list(root.iter(f"{NAMESPACE}polyline"))
    assert len(drawn) == 2 * kinds.count("timeseries")
    assert len(drawn[0].attrib["points"].split()) == 2
    assert texts.count("<a>") == kinds.count("timeseries") + kinds.count("bargauge")
