from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest

from modelexport_cli.cluster.connection import connect
from modelexport_cli.cluster.errors import ClusterError
from modelexport_cli.cluster.kubeconfig import Selection


def write(path: Path, user: dict[str, Any], server: str = "https://127.0.0.1:1") -> Path:
    cluster = {"name": "c", "cluster": {"server": server, "insecure-skip-tls-verify": True}}
    document = {
        "clusters": [cluster],
        "contexts": [{"name": "dev", "context": {"cluster": "c", "user": "u"}}],
        "users": [{"name": "u", "user": user}],
        "current-context": "dev",
    }
    path.write_text(json.dumps(document))
    return path


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)


def test_missing_and_empty_files_are_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "empty").touch()
    real = write(tmp_path / "real", {"token": "t"})
    monkeypatch.setenv("KUBECONFIG", f"{tmp_path / 'missing'}:{tmp_path / 'empty'}:{real}")
    cluster = connect(Selection(namespace="team"))
    assert cluster.namespace == "team"
    assert cluster.access.server == "https://127.0.0.1:1"


def test_a_server_that_does_not_answer_is_a_temporary_failure(tmp_path: Path) -> None:
    cluster = connect(Selection(write(tmp_path / "config", {"token": "t"})))
    with pytest.raises(ClusterError) as caught:
        cluster.get_export("digits")
    assert caught.value.exit_code == 75
    assert "context dev (https://127.0.0.1:1) does not answer: Failed to" in caught.value.message


def test_a_credential_plugin_that_is_missing_is_named(tmp_path: Path) -> None:
    version = "client.authentication.k8s.io/v1"
    plugin = {"apiVersion": version, "command": "no-such-plugin", "interactiveMode": "Never"}
    with pytest.raises(ClusterError) as caught:
        connect(Selection(write(tmp_path / "config", {"exec": plugin})))
    assert "credentials of context dev cannot be used" in caught.value.message
    assert "no-such-plugin" in caught.value.message
    assert not [h for h in logging.getLogger().handlers if type(h) is logging.Handler]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "config does not exist or is empty"),
        ("", "config does not exist or is empty"),
        ("a: [", "config cannot be read"),
        ("- a", "config is not a YAML mapping"),
    ],
)
def test_a_kubeconfig_that_cannot_be_used_is_named(
    tmp_path: Path, text: str | None, message: str
) -> None:
    path = tmp_path / "config"
    if text is not None:
        path.write_text(text)
    with pytest.raises(ClusterError) as caught:
        connect(Selection(path))
    assert message in caught.value.message


def test_in_a_pod_without_a_token_the_way_out_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "443")
    with pytest.raises(ClusterError, match="service account of this pod"):
        connect(Selection())
    with pytest.raises(ClusterError, match="no context x"):
        connect(Selection(context="x"))
