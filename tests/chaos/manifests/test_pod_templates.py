"""A pod template with anything anywhere becomes a Job or a refusal, never an exception."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from chaos.manifests.hostile import POD_TEMPLATES
from chaos.manifests.messages import problems_of_message
from chaos.manifests.trees import places, put
from modelexport_api.resource import ModelExport
from modelexport_operator.job import JobError, build
from unit.operator import pod_standard
from unit.operator.objects import SETTINGS, export

VALUES: tuple[Any, ...] = (None, True, 0, "", "\t", [], {}, ["a"], [{}], {"a": 1})
ROWS = (*pod_standard.REFUSED_BY_BOTH, *pod_standard.REFUSED_BY_US)
TEMPLATES = [*(row[1] for row in ROWS), *(row[1] for row in pod_standard.ACCEPTED), *POD_TEMPLATES]


@pytest.mark.parametrize("uri", ["s3://models/onnx/", "file:///work/onnx/"])
def test_each_place_of_each_template_with_each_type(uri: str) -> None:
    resource = export({"destination": {"uri": uri}})
    tried = 0
    for template in TEMPLATES:
        for place in places(template):
            for value in VALUES:
                changed = put(template, place, copy.deepcopy(value))
                spec = resource.spec.model_copy(update={"pod_template": changed})
                tried += 1
                refusal = _refusal(resource.model_copy(update={"spec": spec}))
                assert [*problems_of_message(refusal)] == [], changed
    assert tried > 3000


def _refusal(resource: ModelExport) -> str:
    try:
        build(resource, SETTINGS)
    except JobError as error:
        return str(error)
    return ""
