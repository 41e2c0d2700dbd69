"""The chart as helm renders it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from modelexport_api.resource import parse
from modelexport_operator import job
from modelexport_operator.settings import Settings
from modelexport_operator.settings import parse as parse_settings
from unit.api.manifests import VALID

CHART = Path(__file__).resolve().parents[3] / "charts" / "modelexport"
Objects = list[dict[str, Any]]
Render = Callable[..., Objects]


def named(objects: Objects, kind: str, name: str = "modelexport") -> dict[str, Any]:
    (found,) = [o for o in objects if o["kind"] == kind and o["metadata"]["name"] == name]
    return found


def settings(objects: Objects) -> Settings:
    maps = [o.get("data", {}) for o in objects if o["kind"] == "ConfigMap"]
    (text,) = [data["config.yaml"] for data in maps if "config.yaml" in data]
    return parse_settings(yaml.safe_load(text))


def job_spec(objects: Objects, **spec: object) -> dict[str, Any]:
    """Return the spec of the Job that the operator would create."""
    meta = {"name": "digits", "uid": "u"}
    resource = parse({**VALID, "metadata": meta, "spec": {**VALID["spec"], **spec}})
    found: dict[str, Any] = job.build(resource, settings(objects))["spec"]
    return found


def _pod_template(objects: Objects) -> dict[str, Any]:
    template: dict[str, Any] = job_spec(objects)["template"]
    return template


def container(objects: Objects) -> dict[str, Any]:
    found: dict[str, Any] = _pod_template(objects)["spec"]["containers"][0]
    return found


def container_labels(objects: Objects) -> dict[str, str]:
    labels: dict[str, str] = _pod_template(objects)["metadata"]["labels"]
    return labels
