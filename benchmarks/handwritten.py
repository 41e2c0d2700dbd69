"""The script that people write by hand: `python handwritten.py MANIFEST [MANIFEST ...]`. The peer.

Download, load, build, export, check, run, compare, upload; nothing clever, nothing silly. It reads
the same manifest, so that both do the same work at the same sizes. Several manifests are done one
after the other without restarting Python in between.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import boto3
import numpy as np
import onnx
import onnxruntime
import torch
import yaml

from benchmarks import networks


def main(manifest: Path) -> None:
    spec = yaml.safe_load(manifest.read_text())["spec"]
    s3 = boto3.client("s3", endpoint_url=spec["storage"]["endpoint"])
    bucket, _, key = spec["source"]["uri"].removeprefix("s3://").partition("/")
    with tempfile.TemporaryDirectory(dir=manifest.parent) as scratch:
        work = Path(scratch)
        s3.download_file(bucket, key, str(work / "checkpoint.pt"))
        model = getattr(networks, spec["model"]["factory"].partition(":")[2])()
        model.load_state_dict(torch.load(work / "checkpoint.pt"))
        model.eval()

        arguments = tuple(sample(entry, spec["dims"]) for entry in spec["inputs"])
        output = work / "out" / "model.onnx"
        output.parent.mkdir()
        torch.onnx.export(
            model,
            arguments,
            output,
            input_names=[entry["name"] for entry in spec["inputs"]],
            output_names=spec["outputs"],
            dynamic_shapes=dynamic_shapes(spec),
            dynamo=True,
        )
        onnx.checker.check_model(output)
        session = onnxruntime.InferenceSession(output, providers=["CPUExecutionProvider"])
        feeds = {
            entry["name"]: argument.numpy()
            for entry, argument in zip(spec["inputs"], arguments, strict=True)
        }
        (got,) = session.run(None, feeds)
        with torch.no_grad():
            expected = model(*arguments).numpy()
        np.testing.assert_allclose(got, expected, rtol=1e-3, atol=1e-3)

        bucket, _, prefix = spec["destination"]["uri"].removeprefix("s3://").partition("/")
        for file in output.parent.iterdir():
            s3.upload_file(str(file), bucket, f"{prefix}handwritten/{file.name}")


def sample(entry: dict[str, Any], dims: dict[str, dict[str, int]]) -> torch.Tensor:
    """Return one input: half of every dynamic dim's largest size."""
    shape = [dims[dim]["max"] // 2 if isinstance(dim, str) else dim for dim in entry["shape"]]
    if entry.get("dtype") == "int64":
        low, high = entry["range"]
        return torch.randint(low, high + 1, shape)
    return torch.randn(shape)


def dynamic_shapes(spec: dict[str, Any]) -> tuple[dict[int, Any], ...]:
    """Return the dynamic dims as torch.export wants them."""
    dims = {name: torch.export.Dim(name, **limits) for name, limits in spec["dims"].items()}
    return tuple(
        {axis: dims[dim] for axis, dim in enumerate(entry["shape"]) if isinstance(dim, str)}
        for entry in spec["inputs"]
    )


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        main(Path(argument))
