"""What is measured: a network, its inputs, and where its checkpoint lies."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

NETWORKS = Path(__file__).parent / "networks.py"

TOKENS = {"dtype": "int64", "shape": ["batch", "seq"]}


@dataclass(frozen=True)
class Case:
    """One network of the table."""

    name: str
    title: str
    inputs: list[dict[str, Any]]
    dims: dict[str, dict[str, int]]

    def write_checkpoint(self, path: Path) -> None:
        """Write random weights as `torch.save` writes them."""
        import torch

        from benchmarks import networks

        torch.manual_seed(0)
        torch.save(getattr(networks, self.name)().eval().state_dict(), path)

    def manifest(self, bucket: str, endpoint: str, region: str) -> str:
        """Return the ModelExport that exports the uploaded checkpoint."""
        below = f"s3://{bucket}/{self.name}"
        spec = {
            "source": {"uri": f"{below}/checkpoint.pt"},
            "storage": {"endpoint": endpoint, "region": region},
            "model": {
                "factory": f"networks:{self.name}",
                "code": {"uri": f"s3://{bucket}/code.zip"},
            },
            "inputs": self.inputs,
            "dims": self.dims,
            "outputs": ["y"],
            "verification": {"provider": "CPU", "benchmark": False},
            "destination": {"uri": f"{below}/onnx/", "overwrite": "Always"},
        }
        return yaml.safe_dump(
            {
                "apiVersion": "modelexport.dev/v1alpha1",
                "kind": "ModelExport",
                "metadata": {"name": self.name},
                "spec": spec,
            }
        )


CASES = (
    Case(
        "cnn",
        "CNN, 47 MB",
        [{"name": "image", "shape": ["batch", 3, 224, 224]}],
        {"batch": {"min": 1, "max": 8}},
    ),
    Case(
        "encoder",
        "encoder of BERT's size, 0.44 GB",
        [
            {"name": "input_ids", "range": [0, 30521], **TOKENS},
            {"name": "attention_mask", "range": [1, 1], **TOKENS},
        ],
        {"batch": {"min": 1, "max": 8}, "seq": {"min": 1, "max": 128}},
    ),
    Case(
        "decoder",
        "decoder, 1.1 GB",
        [{"name": "input_ids", "range": [0, 31999], **TOKENS}],
        {"batch": {"min": 1, "max": 4}, "seq": {"min": 1, "max": 64}},
    ),
)


def zip_code(path: Path) -> None:
    """Write the networks as `model.code`."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.write(NETWORKS, NETWORKS.name)
