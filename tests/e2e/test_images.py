"""The images: a small operator, and an exporter with everything that a GPU node needs."""

from __future__ import annotations

import pytest

from bed import images
from bed.node import NodeCluster
from e2e.product import SYSTEM

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


@pytest.mark.usefixtures("exporter_image")
def test_the_exporter_image_without_cuda_is_small() -> None:
    assert images.size_bytes("exporter-cpu") < 1200 * MEGABYTE


def test_onnxruntime_finds_cuda_s_libraries_without_a_cuda_base_image() -> None:
    images.run(
        "exporter", "python", "-m", "modelexport_exporter.verification.runtime.cuda_libraries"
    )
