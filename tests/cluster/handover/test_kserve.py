"""examples/handover/kserve.yaml against KServe's CRD on a real API server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml

from bed.control_plane import ControlPlane
from bed.processes import BedError

pytestmark = pytest.mark.control_plane

EXAMPLE = Path(__file__).parents[3] / "examples/handover/kserve.yaml"
CRD = Path(__file__).parent / "inferenceservices.json"
"""Of KServe's main in August 2026: no descriptions, no predictors but `model`."""


@pytest.fixture(scope="module")
def kserve(cluster: ControlPlane) -> Iterator[ControlPlane]:
    """A cluster with the kind InferenceService, too."""
    cluster.kubectl("create", "-f", "-", stdin=CRD.read_text())
    cluster.wait_for_crds()
    yield cluster
    cluster.kubectl("delete", "--wait=false", "-f", "-", stdin=CRD.read_text())


def documents() -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(EXAMPLE.read_text()))


def dry_run(cluster: ControlPlane, manifest: dict[str, Any]) -> str:
    options = ("create", "--dry-run=server", "--validate=strict", "-o", "name", "-f", "-")
    return cluster.kubectl(*options, stdin=json.dumps(manifest)).strip()


def test_the_api_server_takes_both(kserve: ControlPlane) -> None:
    assert [dry_run(kserve, document) for document in documents()] == [
        "modelexport.modelexport.dev/sentiment",
        "inferenceservice.serving.kserve.io/sentiment",
    ]


def test_an_unknown_field_is_refused(kserve: ControlPlane) -> None:
    """So that the test above can fail."""
    service = deepcopy(documents()[1])
    service["spec"]["predictor"]["model"]["storageURI"] = "s3://models/repository"
    with pytest.raises(BedError, match=r"unknown field .*storageURI"):
        dry_run(kserve, service)


def test_the_service_reads_the_repository_that_the_export_publishes_to() -> None:
    export, service = documents()
    destination = export["spec"]["destination"]
    model = service["spec"]["predictor"]["model"]
    name = service["metadata"]["name"]
    assert destination == {"uri": f"{model['storageUri']}/{name}/", "layout": "Triton"}
    assert model["modelFormat"] == {"name": "triton"}
