"""The configuration file, and the messages for its errors."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from modelexport_operator.__main__ import main
from modelexport_operator.settings import SettingsError, load, parse

FILE = """
exporterImage: exporter:1
podTemplate:
  spec:
    containers:
      - name: exporter
        resources: {limits: {nvidia.com/gpu: 1}}
workVolume: {sizeLimit: 50Gi}
watchNamespaces: []
lease: {name: modelexport}
api: {qps: 50, burst: 100}
"""


def test_a_valid_file(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(FILE)
    found = load(path)
    assert found.exporter_image == "exporter:1"
    assert found.work_volume.size_limit == "50Gi"
    assert found.port == 8080


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ({}, "exporterImage: Field required"),
        ([], "the file: Input should be"),
        ({"exporterImage": "a", "wokers": 3}, "wokers: Extra inputs"),
        ({"exporterImage": "a", "port": 0}, "port: Input should be greater"),
        ({"exporterImage": "a", "lease": {"durationSeconds": 5}}, "expected retrySeconds"),
        (
            {"exporterImage": "a", "podTemplate": {"spec": {"hostNetwork": True}}},
            "spec.hostNetwork cannot be changed",
        ),
        (
            {"exporterImage": "a", "platformPodTemplate": {"spec": {"hostNetwork": True}}},
            "spec.hostNetwork cannot be changed",
        ),
        ({"exporterImage": "a", "storage": {"endpoint": "minio"}}, "storage.endpoint: String"),
        ({"exporterImage": "a", "logLevel": "loud"}, "logLevel: Input should be"),
        (
            {"exporterImage": "a", "podTemplate": {"spec": {"containers": [{"image": "b"}]}}},
            "every entry requires `name`",
        ),
    ],
)
def test_an_error_has_a_message(document: object, words: str) -> None:
    with pytest.raises(SettingsError) as caught:
        parse(document)
    assert words in str(caught.value)


@pytest.mark.parametrize("text", [None, "a: [", "exporterImage: ''"])
def test_an_error_ends_the_operator_with_a_message(
    tmp_path: Path, text: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "config.yaml"
    if text is not None:
        path.write_text(text)
    assert main(["--config", str(path)]) == 2
    said = capsys.readouterr().err
    assert said.startswith("invalid configuration in ")
    assert "Traceback" not in said


def test_the_process_reports_the_error_without_a_traceback(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    done = subprocess.run(
        [sys.executable, "-m", "modelexport_operator", "--config", path],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("invalid configuration in ")
    assert "Traceback" not in done.stderr
