"""The template: rendered for an object, and checked without one."""

from __future__ import annotations

from typing import Any

import pytest

from modelexport_api.trigger import Template
from modelexport_operator.triggers.template import TemplateProblemError, problems, render
from unit.api.trigger_manifests import INVALID_TEMPLATES, TRIGGER, changed
from unit.api.trigger_manifests import VALID as TRIGGERS
from unit.operator.triggers.trainings import SUCCEEDED, training

BODY = training("Job", SUCCEEDED["Job"])


def template(manifest: dict[str, Any]) -> Template:
    return Template.model_validate(manifest["spec"]["template"])


def test_every_string_is_rendered_and_nothing_else() -> None:
    found = render(template(TRIGGER), BODY)
    assert found.labels == {"kueue.x-k8s.io/queue-name": "gpu"}
    assert found.annotations == {}
    wanted = TRIGGER["spec"]["template"]["spec"]
    assert found.spec == {
        **wanted,
        "source": {"uri": "s3://models/train-42/model.pt"},
        "destination": {"uri": "s3://models/train-42/onnx/"},
    }


def test_a_missing_value_names_field_and_expression() -> None:
    manifest = changed("template.spec.model", {"kwargs": {"deep": ["$(metadata.labels.width)"]}})
    with pytest.raises(TemplateProblemError) as caught:
        render(template(manifest), BODY)
    place = "spec.template.spec.model.kwargs.deep[0]: $(metadata.labels.width)"
    assert str(caught.value) == f"{place}: the object has no such field"


@pytest.mark.parametrize("manifest", [row[1] for row in TRIGGERS], ids=[row[0] for row in TRIGGERS])
def test_valid_templates_have_no_problems(manifest: dict[str, Any]) -> None:
    assert problems(template(manifest)) == []


@pytest.mark.parametrize(
    ("manifest", "field"),
    [row[1:] for row in INVALID_TEMPLATES],
    ids=[row[0] for row in INVALID_TEMPLATES],
)
def test_templates_that_admission_rejects_have_problems(
    manifest: dict[str, Any], field: str
) -> None:
    (problem,) = problems(template(manifest))
    assert problem.startswith("spec.template.spec.")
    assert field in problem.partition(": ")[0]


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (
            "template.spec.source",
            {"uri": "s3://b/$(metadata.name"},
            "spec.template.spec.source.uri: $(metadata.name: expected ')' at character 23",
        ),
        (
            "template.metadata.labels",
            {"team": "$(metadata..labels)"},
            "spec.template.metadata.labels.team: $(metadata..labels): '..' (any depth)",
        ),
        (
            "template.spec.dims",
            {"batch": {"min": 8, "max": 2}},
            "a dim's min must not be larger than its max",
        ),
        (
            "template.spec.inputs",
            [{"name": "$(metadata.name)", "shape": ["batch"], "dtyp": "int64"}],
            "spec.template.spec.inputs[0].dtyp: unknown field `dtyp`; did you mean `dtype`?",
        ),
    ],
    ids=["not closed", "no path", "a violated rule", "an unknown field next to an expression"],
)
def test_problems_name_the_field(path: str, value: object, words: str) -> None:
    (problem,) = problems(template(changed(path, value)))
    assert words in problem


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("template.spec.source", {"uri": "$(metadata.annotations.uri)"}),
        ("template.spec.source", {"uri": "s3://$(metadata.annotations.uri)"}),
        ("template.spec.parallelism", 4),
        ("template.spec.inputs", [{"name": "x", "shape": ["$(metadata.labels.dim)"]}]),
        (
            "template.spec.inputs",
            [{"name": "$(a)", "shape": ["batch"]}, {"name": "$(b)", "shape": ["batch"]}],
        ),
        ("template.spec.dims", {"batch": {"min": 8, "max": "$(metadata.labels.max)"}}),
    ],
    ids=["a whole uri", "a bucket", "pods of what may be a glob", "a dim", "names", "a size"],
)
def test_values_that_depend_on_the_object_are_not_checked(path: str, value: object) -> None:
    assert problems(template(changed(path, value))) == []
