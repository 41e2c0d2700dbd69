"""The basis of all tests of this level: real pods on a real node."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from bed import processes
from bed.node import NodeCluster

pytestmark = pytest.mark.node


@dataclass(frozen=True)
class PythonPod:
    """A pod that runs one Python program, in a namespace of its own."""

    cluster: NodeCluster
    namespace: str
    image: str

    def run(self, program: str, **container: object) -> dict[str, Any]:
        """Run PROGRAM to its end; the pod's status."""
        main = {
            "name": "main",
            "image": self.image,
            "imagePullPolicy": "Never",
            "command": ["python3", "-c", program],
            **container,
        }
        spec = {
            "restartPolicy": "Never",
            "automountServiceAccountToken": False,
            "terminationGracePeriodSeconds": 0,
            "containers": [main],
        }
        self.cluster.apply(
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": "test", "namespace": self.namespace},
                "spec": spec,
            }
        )
        ended = ("Succeeded", "Failed")
        processes.wait_until(lambda: self._status()["phase"] in ended, "the pod ends", seconds=300)
        return self._status()

    def logs(self) -> str:
        return self.cluster.kubectl("logs", "test", "--namespace", self.namespace)

    def _status(self) -> dict[str, Any]:
        status: dict[str, Any] = self.cluster.get("pod", "test", "-n", self.namespace)["status"]
        return status


@pytest.fixture
def pod(node_cluster: NodeCluster, node_namespace: str, base_image: str) -> PythonPod:
    return PythonPod(node_cluster, node_namespace, base_image)


def terminated(status: dict[str, Any]) -> dict[str, Any]:
    state: dict[str, Any] = status["containerStatuses"][0]["state"]["terminated"]
    return state


def test_a_pod_runs_and_its_output_is_in_the_log(pod: PythonPod) -> None:
    assert pod.run("print(6 * 7)")["phase"] == "Succeeded"
    assert pod.logs() == "42\n"


def test_a_pod_has_exit_code_and_termination_message(pod: PythonPod) -> None:
    answer = "open('/dev/termination-log', 'w').write('why'); raise SystemExit(41)"
    state = terminated(pod.run(answer))
    assert (state["exitCode"], state["message"]) == (41, "why")


def test_a_pod_over_its_memory_limit_is_killed(pod: PythonPod) -> None:
    status = pod.run(
        "hoard = bytearray(512 << 20); print(len(hoard))",
        resources={"limits": {"memory": "64Mi"}},
    )
    assert (terminated(status)["reason"], status["phase"]) == ("OOMKilled", "Failed")


def test_a_pod_without_a_token_has_no_credentials(pod: PythonPod) -> None:
    program = "import pathlib; print(pathlib.Path('/var/run/secrets/kubernetes.io').exists())"
    pod.run(program)
    assert pod.logs() == "False\n"


def test_a_pod_reaches_the_api_through_its_service(pod: PythonPod) -> None:
    program = (
        "import os, ssl, urllib.request;"
        "address = os.environ['KUBERNETES_SERVICE_HOST'], os.environ['KUBERNETES_SERVICE_PORT'];"
        "unverified = ssl._create_unverified_context();"
        "url = 'https://%s:%s/readyz' % address;"
        "print(urllib.request.urlopen(url, timeout=10, context=unverified).read().decode())"
    )
    pod.run(program)
    assert pod.logs() == "ok\n"


def test_a_pod_reaches_s3(pod: PythonPod, node_cluster: NodeCluster, node_bucket: str) -> None:
    client = node_cluster.s3.client()
    client.put_object(Bucket=node_bucket, Key="model.bin", Body=b"weights")
    url = client.generate_presigned_url(
        "get_object", Params={"Bucket": node_bucket, "Key": "model.bin"}
    )
    pod.run(f"import urllib.request; print(urllib.request.urlopen({url!r}).read())")
    assert pod.logs() == "b'weights'\n"


def test_a_pod_waits_for_an_extended_resource(pod: PythonPod, node_cluster: NodeCluster) -> None:
    node_cluster.advertise("modelexport.dev/accelerator", 1)
    limits = {"modelexport.dev/accelerator": "1"}
    assert pod.run("print()", resources={"limits": limits})["phase"] == "Succeeded"
