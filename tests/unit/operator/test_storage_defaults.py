"""Which storage a pod uses: the manifest's, or the operator's where the manifest names none."""

from __future__ import annotations

import json
from typing import Any

import pytest

from modelexport_api.pod import MANIFEST_ENV
from modelexport_api.source import Storage
from modelexport_operator import job
from modelexport_operator.settings import Settings
from modelexport_operator.storage_defaults import resolve
from unit.operator.objects import export

PLATFORM = Storage(
    endpoint="https://minio", region="eu", addressing_style="Path", secret_name="platform"
)
WHOLE = {"endpoint": "https://minio", "region": "eu", "addressingStyle": "Path"}


@pytest.mark.parametrize(
    ("stated", "used"),
    [
        ({}, {**WHOLE, "secretName": "platform"}),
        ({"secretName": "team"}, {**WHOLE, "secretName": "team"}),
        ({"region": "us"}, {**WHOLE, "region": "us", "secretName": "platform"}),
        (
            {"addressingStyle": "Virtual"},
            {**WHOLE, "addressingStyle": "Virtual", "secretName": "platform"},
        ),
        ({"endpoint": "https://other"}, {"endpoint": "https://other", "addressingStyle": "Auto"}),
        (
            {"endpoint": "https://other", "secretName": "team"},
            {"endpoint": "https://other", "addressingStyle": "Auto", "secretName": "team"},
        ),
    ],
    ids=["nothing", "Secret", "region", "style", "another server", "another server with keys"],
)
def test_resolve(stated: dict[str, str], used: dict[str, str]) -> None:
    assert resolve(Storage.model_validate(stated), PLATFORM).to_wire() == used


def test_without_defaults_the_manifest_s_is_used() -> None:
    assert resolve(PLATFORM, Storage()) == PLATFORM
    assert resolve(Storage(), Storage()) == Storage()


def test_the_pod_gets_the_platform_s_storage_and_account() -> None:
    settings = Settings(exporter_image="e", storage=PLATFORM, service_account_name="exports")
    pod = job.build(export({"storage": {}}), settings)["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert _manifest(container)["spec"]["storage"] == {**WHOLE, "secretName": "platform"}
    assert container["envFrom"] == [{"secretRef": {"name": "platform"}}]
    assert pod["serviceAccountName"] == "exports"


def test_the_manifest_s_account_is_used_before_the_platform_s() -> None:
    settings = Settings(exporter_image="e", service_account_name="exports")
    made = job.build(export({"serviceAccountName": "mine"}), settings)
    assert made["spec"]["template"]["spec"]["serviceAccountName"] == "mine"


def _manifest(container: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(
        next(entry["value"] for entry in container["env"] if entry["name"] == MANIFEST_ENV)
    )
    return found
