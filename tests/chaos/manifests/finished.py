"""Objects that complete, from which triggers make exports: an ordinary one, and hostile ones."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from chaos.manifests import hostile

_PATH = Path(__file__).parents[3] / "examples" / "automation" / "finished-job.yaml"
_JOB: dict[str, Any] = yaml.safe_load(_PATH.read_text())


def _job(text: object) -> dict[str, Any]:
    env = [{"name": "OUTPUT", "value": text}, {"name": "FOLDS", "value": text}]
    container = {"name": "train", "image": "x", "env": env}
    return {
        **_JOB,
        "metadata": {
            **_JOB["metadata"],
            "labels": {"app": "digits-training", "team": text, "queue": text},
            "annotations": {"x": text},
        },
        "spec": {"template": {"spec": {"containers": [container]}}},
    }


FINISHED: Sequence[dict[str, Any]] = (
    _JOB,
    *(_job(text) for text in (hostile.UNICODE[2], "$(metadata.name)", hostile.URIS[0], "x" * 5000)),
    _job(["a"]),
    _job({}),
    _job(2**70),
    _job(None),
    {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "bare"}},
)
