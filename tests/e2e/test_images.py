"""The images: a small operator, and an exporter with everything that a GPU node needs."""

from __future__ import annotations

import json

import pytest

from bed import images
from bed.node import NodeCluster
from e2e.product import SYSTEM, User

pytestmark = pytest.mark.node
MEGABYTE = 1_000_000


@pytest.mark.usefixtures("operator_image")
def test_the_operator_image_is_small() -> None:
    assert images.size_bytes("operator") < 250 * MEGABYTE


def test_the_operator_image_has_no_torch(installed: NodeCluster) -> None:
    program = (
        "from importlib.util import find_spec;"
        "print([name for name in ('torch', 'onnx', 'numpy') if find_spec(name)])"
    )
    found = installed.kubectl(
        *("--namespace", SYSTEM, "exec", "deployment/modelexport", "--"),
        *("python", "-c", program),
    )
    assert found.strip() == "[]"


def test_onnxruntime_finds_cuda_s_libraries_without_a_cuda_base_image(
    user: User, exporter_image: str
) -> None:
    restricted = {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "runAsNonRoot": True,
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    container = {
        "name": "check",
        "image": exporter_image,
        "imagePullPolicy": "Never",
        "command": ["python", "-m", "modelexport_exporter.verification.runtime.cuda_libraries"],
        "securityContext": restricted,
    }
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "cuda-libraries"},
        "spec": {"restartPolicy": "Never", "containers": [container]},
    }
    user.kubectl("apply", "--filename", "-", stdin=json.dumps(pod))
    user.kubectl(
        *("wait", "pod/cuda-libraries", "--timeout=120s"),
        "--for=jsonpath={.status.containerStatuses[0].state.terminated.exitCode}=0",
    )
