"""The registry of the bed has the images under their own names, and keeps what was pushed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bed import registry
from bed.registry import Registry


def test_an_image_keeps_its_name_and_tag() -> None:
    served = Registry("127.0.0.1:5000")
    found = served.reference("localhost/modelexport-operator:test")
    assert found == "127.0.0.1:5000/modelexport-operator:test"


def test_content_outlives_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODELEXPORT_TESTBED", str(tmp_path))
    configuration = json.loads(registry.config("127.0.0.1:5000"))
    root = configuration["storage"]["filesystem"]["rootdirectory"]
    assert Path(root).is_relative_to(tmp_path)
    assert configuration["http"]["addr"] == "127.0.0.1:5000"
