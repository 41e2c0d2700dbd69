"""Training Jobs on the node, and triggers that wait for them."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np

from e2e.product import SECRET, User
from models import digits

SCRIPT = Path(__file__).parent / "training" / "folds.py"
CONFIG = "training"


def prepare(user: User) -> None:
    """Put the training's code into the namespace, and its data and the model's code into S3."""
    user.kubectl(
        *("create", "configmap", CONFIG),
        *(f"--from-file={SCRIPT}", f"--from-file={digits.EXAMPLE / 'model.py'}"),
    )
    (images, labels), _ = digits.example().split()
    buffer = io.BytesIO()
    np.savez(buffer, images=images.numpy(), labels=labels.numpy())
    client = user.cluster.s3.client()
    client.put_object(Bucket=user.bucket, Key="digits.npz", Body=buffer.getvalue())
    code = (digits.EXAMPLE / "model.py").read_bytes()
    client.put_object(Bucket=user.bucket, Key="code/model.py", Body=code)


def job(user: User, image: str, name: str, corrupt: int | None = None) -> dict[str, Any]:
    """Return a training Job that runs in the exporter's image, as a restricted pod."""
    server = user.cluster.s3
    environment = {
        "ENDPOINT": server.endpoint,
        "AWS_REGION": server.region,
        "DATA": "digits.npz",
        "OUTPUT": f"s3://{user.bucket}/{name}/",
        "CORRUPT": "" if corrupt is None else str(corrupt),
    }
    container = {
        "name": "train",
        "image": image,
        "imagePullPolicy": "Never",
        "command": ["python", "folds.py"],
        "workingDir": "/training",
        "env": [{"name": key, "value": value} for key, value in environment.items()],
        "envFrom": [{"secretRef": {"name": SECRET}}],
        "volumeMounts": [{"name": "code", "mountPath": "/training"}],
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
        },
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "labels": {"app": "digits-training"}},
        "spec": {
            "backoffLimit": 0,
            "template": {
                "spec": {
                    "restartPolicy": "Never",
                    "securityContext": {
                        "runAsNonRoot": True,
                        "seccompProfile": {"type": "RuntimeDefault"},
                    },
                    "containers": [container],
                    "volumes": [{"name": "code", "configMap": {"name": CONFIG}}],
                }
            },
        },
    }


def spec(user: User, source: str, destination: str, **more: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return the spec of an export of checkpoints that folds.py writes."""
    server = user.cluster.s3
    return {
        "source": {"uri": f"s3://{user.bucket}/{source}"},
        "storage": {
            "endpoint": server.endpoint,
            "region": server.region,
            "secretName": SECRET,
        },
        "model": {
            "factory": "model:build",
            "code": {"uri": f"s3://{user.bucket}/code/"},
        },
        "inputs": [{"name": "image", "shape": ["batch", 1, 8, 8], "range": [0, 1]}],
        "dims": {"batch": {"min": 1, "max": 512}},
        "outputs": ["logits"],
        "verification": {"benchmark": False},
        "destination": {"uri": f"s3://{user.bucket}/{destination}"},
        **more,
    }


def trigger(
    name: str,
    source: dict[str, Any],
    template: dict[str, Any],
    **more: Any,  # noqa: ANN401
) -> dict[str, Any]:
    """Return a ModelExportTrigger."""
    return {
        "apiVersion": "modelexport.dev/v1alpha1",
        "kind": "ModelExportTrigger",
        "metadata": {"name": name},
        "spec": {"source": source, "template": {"spec": template}, **more},
    }


def folds_trigger(user: User, **more: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return the trigger that exports all folds of a training Job, by two pods."""
    template = spec(
        user, "$(metadata.name)/fold-*.pt", "onnx/$(metadata.name)/{stem}/", parallelism=2, **more
    )
    labels = {"matchLabels": {"app": "digits-training"}}
    return trigger("folds", {"kind": "Job", "selector": labels}, template)


def results(user: User, status: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the entries of a batch's results manifest by the checkpoint's name."""
    key = status["items"]["resultsUri"].removeprefix(f"s3://{user.bucket}/")
    document = json.loads(user.read(key))
    return {entry["uri"].rpartition("/")[2]: entry for entry in document["items"]}
