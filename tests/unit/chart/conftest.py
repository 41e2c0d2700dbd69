"""The chart as helm renders it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from bed import processes
from unit.chart.rendering import CHART, Objects, Render


@pytest.fixture
def render(helm: Path, tmp_path: Path) -> Render:
    """Return a function that renders the chart with values given as a nested dictionary."""

    def rendered(**values: Any) -> Objects:  # noqa: ANN401
        file = tmp_path / "values.yaml"
        file.write_text(json.dumps(values))
        text = processes.call(
            [helm, "template", "modelexport", CHART, "--namespace", "system", "--values", file]
        )
        return [document for document in yaml.safe_load_all(text) if document]

    return rendered
