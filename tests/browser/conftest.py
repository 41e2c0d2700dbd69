"""A real browser, and real reports: three small models through the pipeline, once a session."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
from playwright.sync_api import Browser, sync_playwright

from bed import debian
from bed.fixtures import require
from modelexport_api.pod import PodResult
from modelexport_api.resource import ModelExport
from modelexport_exporter.core.log import JsonLog
from modelexport_exporter.pipeline.context import Settings
from modelexport_exporter.pipeline.run import run

CODE = Path(__file__).parent / "models.py"


@dataclass(frozen=True)
class Published:
    """What a run left."""

    result: PodResult
    directory: Path

    @property
    def page(self) -> Path:
        """Return report.html."""
        return self.directory / "report.html"

    @property
    def report(self) -> dict[str, Any]:
        """Return report.json."""
        found: dict[str, Any] = json.loads((self.directory / "report.json").read_text())
        return found


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Debian's Chromium, without a window.

    Not for the whole session: as long as Playwright is open, this thread counts as one with a
    running event loop, and `asyncio.run` in any later test refuses.
    """
    require("browser")
    with sync_playwright() as playwright:
        # A sandbox needs user namespaces, which root in a container does not get.
        started = playwright.chromium.launch(
            executable_path=debian.BROWSER["chromium"], args=["--no-sandbox"]
        )
        yield started
        started.close()


@pytest.fixture(scope="session")
def exported(
    tmp_path_factory: pytest.TempPathFactory, torch_workers: None
) -> Callable[..., Published]:
    """Run a model of `models.py` through the whole pipeline."""

    def export(factory: str, inputs: list[dict[str, Any]], **spec: object) -> Published:
        directory = tmp_path_factory.mktemp(factory)
        torch.save({}, directory / "model.pt")
        (directory / "code").mkdir()
        (directory / "code" / "models.py").write_bytes(CODE.read_bytes())
        resource = ModelExport.model_validate(
            {
                "apiVersion": "modelexport.dev/v1alpha1",
                "kind": "ModelExport",
                "metadata": {"name": factory, "namespace": "browser"},
                "spec": {
                    "source": {"uri": (directory / "model.pt").as_uri()},
                    "model": {
                        "factory": f"models:{factory}",
                        "code": {"uri": f"{(directory / 'code').as_uri()}/"},
                    },
                    "inputs": inputs,
                    "destination": {"uri": f"{(directory / 'out').as_uri()}/"},
                    **spec,
                },
            }
        )
        with (directory / "log").open("w") as log:
            result = run(resource, Settings(directory / "work"), JsonLog(log))
        assert result.report_uri is not None
        return Published(result, Path(result.report_uri.removeprefix("file://")).parent)

    return export
