"""examples/handover/mlflow_register.py with MLflow's own server, and a real export on S3."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from bed import processes
from bed.s3 import S3Server

pytestmark = pytest.mark.nightly

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "examples/handover/mlflow_register.py"
DIGITS = ROOT / "examples/digits"
START_SECONDS = 300
UNSET = "MLFLOW_"

Resource = dict[str, Any]
Register = Callable[[str, Resource], subprocess.CompletedProcess[str]]
Registry = Callable[[str], list[dict[str, Any]]]


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the Python of an environment with what requirements/mlflow.txt pins."""
    place = tmp_path_factory.mktemp("mlflow") / "environment"
    uv = Path(sys.executable).with_name("uv")
    processes.call([uv, "venv", "--quiet", "--python", sys.executable, place])
    lock = ROOT / "requirements/mlflow.txt"
    python = place / "bin/python"
    options = ["--quiet", "--require-hashes", "--python", str(python)]
    processes.call([uv, "pip", "install", *options, "-r", lock])
    return python


@pytest.fixture(scope="module")
def server(python: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Run MLflow's tracking server and registry; yield its URL."""
    place = tmp_path_factory.mktemp("registry")
    port = processes.free_port()
    url = f"http://127.0.0.1:{port}"
    command = [
        *(str(python), "-m", "mlflow", "server", "--workers", "1", "--host", "127.0.0.1"),
        *("--port", str(port), "--backend-store-uri", f"sqlite:///{place}/registry.db"),
    ]
    child = processes.start("mlflow", command, place / "server.log", _environment())
    try:
        healthy = f"{url}/health"
        processes.wait_until(
            lambda: processes.answers(healthy),
            "MLflow answers",
            children=[child],
            seconds=START_SECONDS,
        )
        yield url
    finally:
        child.stop()


def _environment(**more: str) -> dict[str, str]:
    found = {name: value for name, value in os.environ.items() if not name.startswith(UNSET)}
    return {name: value for name, value in found.items() if name != "PYTHONPATH"} | more


@pytest.fixture(scope="module")
def export(s3: S3Server, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Export the digits to the S3 server; return what kubectl would print of the resource."""
    place = tmp_path_factory.mktemp("digits")
    bucket, client = s3.bucket(), s3.client()
    shutil.copytree(DIGITS, place / "examples/digits")
    processes.call([sys.executable, place / "examples/digits/train.py"])
    checkpoint = place / "build/digits/checkpoint.pt"
    with zipfile.ZipFile(place / "code.zip", "w") as archive:
        archive.write(DIGITS / "model.py", "model.py")
    for path in (checkpoint, place / "code.zip"):
        client.upload_file(str(path), bucket, f"digits/{path.name}")
    text = (DIGITS / "modelexport-s3.yaml").read_text().replace("s3://models/", f"s3://{bucket}/")
    resource: dict[str, Any] = yaml.safe_load(text)
    resource["spec"]["storage"] = {"endpoint": s3.endpoint, "region": s3.region}
    resource["metadata"] |= {"namespace": "ml", "generation": 1}
    manifest = place / "modelexport.yaml"
    manifest.write_text(yaml.safe_dump(resource))
    modelexport = Path(sys.executable).with_name("modelexport")
    ran = subprocess.run(
        [modelexport, "run", manifest, "-o", "json"],
        check=True,
        capture_output=True,
        text=True,
        env=os.environ | s3.environment(),
    )
    return resource | {"status": json.loads(ran.stdout) | {"observedGeneration": 1}}


@pytest.fixture
def register(python: Path, server: str) -> Register:
    """Return a function that runs the script on a resource."""

    def run(model: str, resource: dict[str, Any]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [python, SCRIPT, model],
            input=json.dumps(resource),
            capture_output=True,
            text=True,
            check=False,
            env=_environment(MLFLOW_TRACKING_URI=server),
        )

    return run


@pytest.fixture
def registry(python: Path, server: str) -> Registry:
    """Return a function that asks the registry for all versions of a model, newest first."""
    asked = (
        "import json, sys; from mlflow import MlflowClient; client = MlflowClient(); "
        "found = client.search_model_versions(f\"name='{sys.argv[1]}'\"); "
        "print(json.dumps([dict(version=one.version, source=one.source, tags=one.tags, "
        "aliases=list(client.get_model_version(one.name, one.version).aliases)) for one in found]))"
    )

    def versions(model: str) -> list[dict[str, Any]]:
        ran = subprocess.run(
            [python, "-c", asked, model],
            capture_output=True,
            text=True,
            check=True,
            env=_environment(MLFLOW_TRACKING_URI=server),
        )
        found: list[dict[str, Any]] = json.loads(ran.stdout.splitlines()[-1])
        return found

    return versions


def test_a_version_leads_to_the_verified_file(
    export: dict[str, Any],
    register: Register,
    registry: Registry,
    s3: S3Server,
) -> None:
    first, again = register("digits", export), register("digits", export)
    assert first.stdout == again.stdout == "models:/digits/1\n", first.stderr + again.stderr
    (version,) = registry("digits")
    assert version["aliases"] == ["verified"]
    assert version["tags"]["modelexport.verdict"] == "Verified"
    assert version["tags"]["modelexport.export"] == "ml/digits"
    bucket, _, directory = version["source"].removeprefix("s3://").partition("/")
    model = s3.client().get_object(Bucket=bucket, Key=f"{directory}/model.onnx")["Body"].read()
    assert version["tags"]["modelexport.sha256"] == hashlib.sha256(model).hexdigest()


def test_another_artifact_is_another_version(
    export: dict[str, Any],
    register: Register,
    registry: Registry,
) -> None:
    artifact = export["status"]["artifact"]
    other = export | {"status": export["status"] | {"artifact": artifact | {"sha256": "0" * 64}}}
    register("moving", export)
    assert register("moving", other).stdout == "models:/moving/2\n"
    assert {one["version"]: one["aliases"] for one in registry("moving")} == {
        "1": [],
        "2": ["verified"],
    }


@pytest.mark.parametrize(
    "change",
    [
        {"phase": "Failed", "verification": {"verdict": "Mismatch"}},
        {"phase": "Running", "verification": None},
        {"observedGeneration": 0},
        {"items": {"total": 2}},
    ],
)
def test_what_is_not_verified_is_not_registered(
    export: dict[str, Any],
    register: Register,
    registry: Registry,
    change: dict[str, Any],
) -> None:
    ran = register("refused", export | {"status": export["status"] | change})
    assert ran.returncode == 1
    assert "digits is not registered" in ran.stderr
    assert registry("refused") == []
