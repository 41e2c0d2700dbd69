"""Metrics over TLS: the API server says who may read them, and a renewed certificate is used."""

from __future__ import annotations

import http.client
import shutil
import socket
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from cryptography import x509

from bed import prometheus
from bed.certificates import KeyPair
from bed.control_plane import ControlPlane
from bed.fixtures import require
from bed.processes import free_port
from cluster.operator.release import Release
from cluster.operator.replica import Operators, Replica
from cluster.operator.world import World, eventually
from monitoring import shipped

pytestmark = pytest.mark.control_plane

HOST = "modelexport-metrics"


@dataclass
class Volume:
    """A Secret's volume, whose files change as the kubelet changes them."""

    directory: Path
    version: int = 0

    def write(self, certificate: Path, key: Path) -> None:
        self.version += 1
        made = self.directory / f"..{self.version}"
        made.mkdir(parents=True)
        shutil.copy(certificate, made / "tls.crt")
        shutil.copy(key, made / "tls.key")
        link = self.directory / "..new"
        link.symlink_to(made.name)
        link.rename(self.directory / "..data")
        for name in ("tls.crt", "tls.key"):
            if not (self.directory / name).is_symlink():
                (self.directory / name).symlink_to(f"..data/{name}")


@dataclass
class Metrics:
    """A replica that serves metrics over TLS."""

    replica: Replica
    port: int
    plane: ControlPlane
    volume: Volume

    def issue(self, name: str) -> KeyPair:
        return self.plane.authority.issue(name, user="metrics", hosts=[HOST, "127.0.0.1"])

    def get(self, token: str | None = None, path: str = "/metrics") -> tuple[int, str]:
        connection = http.client.HTTPSConnection(
            "127.0.0.1", self.port, context=self._context(), timeout=10
        )
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        try:
            connection.request("GET", path, headers=headers)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()

    def serial(self) -> int:
        """Return the serial number of the certificate in a new connection."""
        plain = socket.create_connection(("127.0.0.1", self.port), timeout=10)
        with self._context().wrap_socket(plain, server_hostname=HOST) as connection:
            found = connection.getpeercert(binary_form=True)
        assert found is not None
        return x509.load_der_x509_certificate(found).serial_number

    def _context(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=str(self.plane.authority.certificate))


@pytest.fixture
def metrics(
    control_plane: ControlPlane, operators: Operators, helm: Path, world: World, tmp_path: Path
) -> Iterator[Metrics]:
    """A replica with the settings, the account and the permissions of a release."""
    namespace = world.namespace
    for account in ("prometheus", "stranger"):
        control_plane.kubectl("create", "serviceaccount", account, "--namespace", namespace)
    secure = {
        "enabled": True,
        "secretName": "metrics-tls",
        "readers": [{"name": "prometheus", "namespace": namespace}],
    }
    values = {
        "crds": {"install": False},
        "fullnameOverride": "modelexport",
        "rbac": {"aggregate": False},
        "operator": {"watchNamespaces": [namespace]},
        "metrics": {"secure": secure},
    }
    release = Release(control_plane, operators, helm, namespace, values=values)
    release.install()
    volume, port = Volume(tmp_path / "tls"), free_port()
    pair = control_plane.authority.issue("metrics-0", user="metrics", hosts=[HOST, "127.0.0.1"])
    volume.write(pair.certificate, pair.key)
    listen = {"port": port, "certificateDirectory": str(volume.directory)}
    replica = release.start("operator-0", secureMetrics=listen)
    eventually(replica.healthy, "the operator is healthy")
    yield Metrics(replica, port, control_plane, volume)
    replica.terminate()
    release.uninstall()


def _token(world: World, account: str, *options: str) -> str:
    command = ("create", "token", account, "--namespace", world.namespace, *options)
    return world.plane.kubectl(*command).strip()


def test_only_an_account_that_may_read_them_gets_the_metrics(
    metrics: Metrics, world: World
) -> None:
    reader = _token(world, "prometheus")
    status, text = metrics.get(reader)
    assert status == 200
    assert "modelexport_leader" in text
    for token, expected, reason in (
        (None, 401, "TokenMissing"),
        ("invented", 401, "TokenInvalid"),
        (reader[:-8] + "AAAAAAAA", 401, "TokenInvalid"),
        (_token(world, "prometheus", "--audience=elsewhere"), 401, "TokenInvalid"),
        (_token(world, "stranger"), 403, "MetricsForbidden"),
    ):
        status, text = metrics.get(token)
        assert (status, text.split(":")[0]) == (expected, reason)
    assert metrics.get(reader, "/healthz")[0] == 404
    with pytest.raises(OSError, match="404"):
        metrics.replica.read("/metrics")
    assert metrics.replica.healthy()


def test_an_answer_is_kept(metrics: Metrics, world: World) -> None:
    reader = _token(world, "prometheus")
    for _ in range(20):
        status, text = metrics.get(reader)
        assert status == 200
    for resource in ("tokenreviews", "subjectaccessreviews"):
        counted = f'modelexport_api_requests_total{{code="201",resource="{resource}",verb="POST"}} '
        assert f"{counted}1.0" in text


def test_random_tokens_do_not_reach_the_api_server_without_limit(
    metrics: Metrics, world: World
) -> None:
    reader = _token(world, "prometheus")
    assert metrics.get(reader)[0] == 200
    answers = [metrics.get(f"random-{number}")[0] for number in range(100)]
    assert 503 in answers
    assert metrics.get(reader)[0] == 200, "who was allowed is not limited"


def test_a_client_learns_that_its_token_was_not_reviewed(metrics: Metrics, world: World) -> None:
    """A forbidden review is an error of the operator, not an answer about the client."""
    stranger = _token(world, "stranger")
    world.plane.kubectl("delete", "clusterrolebinding", f"modelexport-{world.namespace}-metrics")
    eventually(lambda: metrics.get(stranger)[0] == 503, "the token is not reviewed")


def test_a_renewed_certificate_is_used_and_a_broken_one_is_not(metrics: Metrics) -> None:
    first = metrics.serial()
    renewed = metrics.issue("metrics-1")
    metrics.volume.write(renewed.certificate, renewed.key)
    second = metrics.serial()
    assert second != first
    other = metrics.issue("metrics-2")
    metrics.volume.write(renewed.certificate, other.key)
    assert metrics.serial() == second
    assert metrics.serial() == second
    assert metrics.replica.child.last_lines().count("CertificateInvalid") == 1
    metrics.volume.write(other.certificate, other.key)
    assert metrics.serial() not in (first, second)


def test_an_invalid_certificate_ends_the_start_with_a_message(
    operators: Operators, tmp_path: Path
) -> None:
    listen = {"port": free_port(), "certificateDirectory": str(tmp_path)}
    replica = operators.start(secureMetrics=listen)
    assert replica.child.process.wait(60) == 2
    last = replica.child.last_lines()
    assert "CertificateInvalid" in last
    assert "tls.crt" in last
    assert "Traceback" not in last


def test_prometheus_scrapes_with_its_token(metrics: Metrics, world: World, tmp_path: Path) -> None:
    """As a ServiceMonitor of the chart lets it: CA, server name and bearer token file."""
    require("prometheus")
    file = tmp_path / "token"
    file.write_text(_token(world, "prometheus"))
    scrape = {
        "scheme": "https",
        "authorization": {"credentials_file": str(file)},
        "tls_config": {
            "ca_file": str(world.plane.authority.certificate),
            "server_name": HOST,
        },
    }
    run = world.plane.run
    before = list(run.children)
    try:
        scraped = prometheus.start(run, [metrics.port], shipped.ALERTS, scrape)
        eventually(lambda: scraped.value("up") == 1, "the scrape succeeds")
        assert scraped.value("modelexport_leader") is not None
    finally:
        for child in [entry for entry in run.children if entry not in before]:
            child.stop()
            run.children.remove(child)
