"""What is measured: a network, its inputs, and the place of its checkpoint."""

from __future__ import annotations

import os
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

NETWORKS = Path(__file__).parent / "networks.py"
DIGITS = Path(__file__).parents[1] / "examples" / "digits" / "model.py"

PYTHONPATH = os.pathsep.join(map(str, (Path(__file__).parents[1], DIGITS.parent)))
"""Where the scripts that are measured find this package and the file of the digits example."""

TOKENS = {"dtype": "int64", "shape": ["batch", "seq"]}


@dataclass(frozen=True)
class Case:
    """One network of the table."""

    name: str
    title: str
    inputs: list[dict[str, Any]]
    dims: dict[str, dict[str, int]]

    def write_checkpoint(self, path: Path, seed: int = 0) -> None:
        """Write random weights as `torch.save` writes them."""
        import torch

        from benchmarks import networks

        if str(DIGITS.parent) not in sys.path:
            sys.path.append(str(DIGITS.parent))
        torch.manual_seed(seed)
        torch.save(getattr(networks, self.name)().eval().state_dict(), path)

    def manifest(
        self, bucket: str, endpoint: str, region: str, source: str = "checkpoint.pt", to: str = ""
    ) -> str:
        """Return the ModelExport of an uploaded checkpoint, or of several by a glob."""
        below = f"s3://{bucket}/{self.name}"
        spec = {
            "source": {"uri": f"{below}/{source}"},
            "storage": {"endpoint": endpoint, "region": region},
            "model": {
                "factory": f"networks:{self.name}",
                "code": {"uri": f"s3://{bucket}/code.zip"},
            },
            "inputs": self.inputs,
            "dims": self.dims,
            "outputs": ["y"],
            "verification": {"provider": "CPU", "benchmark": False},
            "destination": {"uri": f"{below}/onnx/{to}", "overwrite": "Always"},
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
        "digits",
        "digits CNN, 0.02 MB",
        [{"name": "image", "shape": ["batch", 1, 8, 8], "range": [0, 1]}],
        {"batch": {"min": 1, "max": 64}},
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
        archive.write(DIGITS, DIGITS.name)
