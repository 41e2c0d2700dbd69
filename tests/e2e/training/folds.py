"""A training Job: the digits network, once for each fold, each into a checkpoint of its own.

Runs in its own pod, with model.py of examples/digits; it does not depend on ModelExport.
OUTPUT is where it writes, CORRUPT the number of a fold whose upload is cut off.
"""

from __future__ import annotations

import io
import os
from pathlib import Path

import boto3
import numpy as np
import torch
from model import build
from torch import nn

FOLDS = 5
EPOCHS = 12
BATCH = 64


def main() -> None:
    torch.set_num_threads(1)
    s3 = boto3.client("s3", endpoint_url=os.environ["ENDPOINT"])
    bucket, _, prefix = os.environ["OUTPUT"].removeprefix("s3://").partition("/")
    answer = s3.get_object(Bucket=bucket, Key=os.environ["DATA"])
    data = np.load(io.BytesIO(answer["Body"].read()))
    images, labels = torch.from_numpy(data["images"]), torch.from_numpy(data["labels"])
    for fold in range(FOLDS):
        content = checkpoint(images, labels, fold)
        if os.environ.get("CORRUPT") == str(fold):
            content = content[: len(content) // 2]
        s3.put_object(Bucket=bucket, Key=f"{prefix}fold-{fold}.pt", Body=content)
        print(f"fold {fold} is written to {prefix}", flush=True)


def checkpoint(images: torch.Tensor, labels: torch.Tensor, fold: int) -> bytes:
    """Train on all but one fold; return what torch.save writes."""
    torch.manual_seed(fold)
    kept = torch.arange(len(labels)) % FOLDS != fold
    images, labels = images[kept], labels[kept]
    model = build()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for _ in range(EPOCHS):
        for batch in torch.randperm(len(labels)).split(BATCH):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(images[batch]), labels[batch]).backward()
            optimizer.step()
    buffer = io.BytesIO()
    torch.save({"model": model.eval().state_dict(), "fold": fold}, buffer)
    return buffer.getvalue()


if __name__ == "__main__":
    assert Path("model.py").exists()
    main()
