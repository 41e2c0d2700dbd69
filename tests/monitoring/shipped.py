"""The alert rules and the dashboard, and the metrics that their queries read."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
FILES = ROOT / "charts" / "modelexport" / "files"
ALERTS, DASHBOARD = FILES / "alerts.yaml", FILES / "dashboard.json"

Object = dict[str, Any]

_VARIABLES = {"$__rate_interval": "1m", "$namespace": ".*"}


def alerts() -> list[Object]:
    """Return the alert rules."""
    groups = yaml.safe_load(ALERTS.read_text())["groups"]
    return [rule for group in groups for rule in group["rules"]]


def dashboard() -> Object:
    """Return the dashboard."""
    found: Object = json.loads(DASHBOARD.read_text())
    return found


def panels() -> list[Object]:
    """Return the panels that show data."""
    return [panel for panel in dashboard()["panels"] if panel["type"] != "row"]


def panel_queries() -> list[tuple[str, str]]:
    """Return title and query of each target, with values in place of Grafana's variables."""
    return [
        (panel["title"], with_values(target["expr"]))
        for panel in panels()
        for target in panel["targets"]
    ]


def with_values(query: str) -> str:
    """Return a query with values in place of Grafana's variables."""
    for variable, value in _VARIABLES.items():
        query = query.replace(variable, value)
    return query


def metric_names(query: str) -> set[str]:
    """Return the metrics that a query reads, without the suffixes of histograms."""
    found = re.findall(r"\b((?:modelexport|process)_[a-z_]+)", query)
    return {re.sub(r"_(bucket|count|sum)$", "", name) for name in found}
