"""A Prometheus that scrapes given ports of the loopback and evaluates rules every second."""

from __future__ import annotations

import json
import time
import urllib.parse
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from bed import processes
from bed.runs import Run

BINARY, PROMTOOL = "/usr/bin/prometheus", "/usr/bin/promtool"
_LOOPBACK = "127.0.0.1"


@dataclass(frozen=True)
class Prometheus:
    """A running Prometheus."""

    url: str

    def query(self, expression: str) -> list[dict[str, Any]]:
        """Return the series of an instant query; an invalid one raises with what it said."""
        found: list[dict[str, Any]] = self._get("query", query=expression)["result"]
        return found

    def query_range(self, expression: str, seconds: float, step: int) -> list[dict[str, Any]]:
        """Return the series over the last SECONDS, a value each STEP seconds."""
        now = time.time()
        span = {"start": str(now - seconds), "end": str(now), "step": str(step)}
        found: list[dict[str, Any]] = self._get("query_range", query=expression, **span)["result"]
        return found

    def value(self, expression: str) -> float | None:
        """Return the only value of a query, or None if there is no series."""
        found = self.query(expression)
        return float(found[0]["value"][1]) if found else None

    def rules(self) -> list[dict[str, Any]]:
        """Return all alert rules with their health and state."""
        return [rule for group in self._get("rules")["groups"] for rule in group["rules"]]

    def _get(self, what: str, **query: str) -> Any:  # noqa: ANN401 - JSON
        url = f"{self.url}/api/v1/{what}?{urllib.parse.urlencode(query)}"
        with urllib.request.urlopen(url, timeout=10) as answer:
            return json.load(answer)["data"]


def start(
    run: Run, ports: Sequence[int], rules: Path, scrape: Mapping[str, Any] | None = None
) -> Prometheus:
    """Start a Prometheus that lives as long as RUN; SCRAPE is more of its scrape_config."""
    port = processes.free_port()
    targets = [f"{_LOOPBACK}:{scraped}" for scraped in ports]
    labels = {"namespace": "modelexport"}
    found = [{"targets": targets, "labels": labels}]
    config = {
        "global": {"scrape_interval": "1s", "scrape_timeout": "1s", "evaluation_interval": "1s"},
        "rule_files": [str(rules)],
        "scrape_configs": [{"job_name": "modelexport", "static_configs": found, **(scrape or {})}],
    }
    path = run.directory / f"prometheus-{port}.yaml"
    path.write_text(yaml.safe_dump(config))
    command: list[str | Path] = [
        BINARY,
        f"--config.file={path}",
        f"--storage.tsdb.path={run.subdirectory(f'prometheus-{port}')}",
        f"--web.listen-address={_LOOPBACK}:{port}",
        "--log.level=warn",
    ]
    child = run.spawn(f"prometheus-{port}", command)
    url = f"http://{_LOOPBACK}:{port}"
    processes.wait_until(
        lambda: processes.answers(f"{url}/-/ready"), "Prometheus is ready", children=[child]
    )
    return Prometheus(url)
