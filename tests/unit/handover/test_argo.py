"""The workflow in examples/handover: its step creates a ModelExport that is valid."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from pydantic import ValidationError

from modelexport_api.spec import ModelExportSpec
from modelexport_api.status import Phase

WORKFLOW = Path(__file__).parents[3] / "examples/handover/argo-workflow.yaml"


def test_the_step_creates_a_valid_export_and_waits_for_its_end() -> None:
    templates = {t["name"]: t for t in yaml.safe_load(WORKFLOW.read_text())["spec"]["templates"]}
    resource = templates["export"]["resource"]
    manifest = yaml.safe_load(resource["manifest"])
    ModelExportSpec.model_validate(manifest["spec"])
    with pytest.raises(ValidationError):
        ModelExportSpec.model_validate(manifest["spec"] | {"dims": 1})
    assert resource["successCondition"] == f"status.phase == {Phase.SUCCEEDED.value}"
    assert resource["failureCondition"] == f"status.phase == {Phase.FAILED.value}"
