"""Merging partial PodTemplateSpecs."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelexport_operator.pod_template import TemplateError, merge, prune

GPU = "nvidia.com/gpu"


def exporter(**container: Any) -> dict[str, Any]:  # noqa: ANN401
    return {"spec": {"containers": [{"name": "exporter", **container}]}}


ROWS: list[tuple[str, dict[str, Any], dict[str, Any], dict[str, Any]]] = [
    (
        "maps merge by key",
        {"spec": {"nodeSelector": {"a": "1", "b": "2"}}},
        {"spec": {"nodeSelector": {"b": "3"}}},
        {"spec": {"nodeSelector": {"a": "1", "b": "3"}}},
    ),
    (
        "null removes a default",
        {"spec": {"runtimeClassName": "nvidia"}},
        {"spec": {"runtimeClassName": None}},
        {"spec": {}},
    ),
    (
        "a container merges by its name",
        exporter(image="a", imagePullPolicy="Always"),
        exporter(image="b"),
        exporter(image="b", imagePullPolicy="Always"),
    ),
    (
        "another container comes after it",
        exporter(image="a"),
        {"spec": {"containers": [{"name": "proxy", "image": "p"}]}},
        {
            "spec": {
                "containers": [{"name": "exporter", "image": "a"}, {"name": "proxy", "image": "p"}]
            }
        },
    ),
    (
        "env is replaced entry by entry",
        exporter(env=[{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]),
        exporter(env=[{"name": "A", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}]),
        exporter(
            env=[
                {"name": "A", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}},
                {"name": "B", "value": "2"},
            ]
        ),
    ),
    (
        "a volume is replaced as a whole",
        {"spec": {"volumes": [{"name": "work", "emptyDir": {"sizeLimit": "1Gi"}}]}},
        {"spec": {"volumes": [{"name": "work", "persistentVolumeClaim": {"claimName": "c"}}]}},
        {"spec": {"volumes": [{"name": "work", "persistentVolumeClaim": {"claimName": "c"}}]}},
    ),
    (
        "mounts merge by path",
        exporter(volumeMounts=[{"name": "a", "mountPath": "/a"}, {"name": "b", "mountPath": "/b"}]),
        exporter(volumeMounts=[{"name": "c", "mountPath": "/a"}]),
        exporter(volumeMounts=[{"name": "c", "mountPath": "/a"}, {"name": "b", "mountPath": "/b"}]),
    ),
    (
        "tolerations are appended",
        {"spec": {"tolerations": [{"key": "a"}]}},
        {"spec": {"tolerations": [{"key": "b"}, {"key": "a"}]}},
        {"spec": {"tolerations": [{"key": "a"}, {"key": "b"}]}},
    ),
    (
        "memory keeps the GPU",
        exporter(resources={"limits": {GPU: 1, "memory": "4Gi"}}),
        exporter(resources={"limits": {"memory": "32Gi"}}),
        exporter(resources={"limits": {GPU: 1, "memory": "32Gi"}}),
    ),
    (
        "another vendor's GPU replaces it",
        exporter(resources={"limits": {GPU: 1, "memory": "4Gi"}, "requests": {GPU: 1}}),
        exporter(resources={"limits": {"amd.com/gpu": 2}}),
        exporter(resources={"limits": {"amd.com/gpu": 2, "memory": "4Gi"}, "requests": {}}),
    ),
    (
        "0 means no GPU",
        exporter(resources={"limits": {GPU: 1, "memory": "4Gi"}}),
        exporter(resources={"limits": {GPU: 0}}),
        exporter(resources={"limits": {"memory": "4Gi"}}),
    ),
    (
        "a resource claim replaces the GPU",
        exporter(resources={"limits": {GPU: 1}}),
        exporter(resources={"claims": [{"name": "gpu"}]}),
        exporter(resources={"limits": {}, "claims": [{"name": "gpu"}]}),
    ),
]


@pytest.mark.parametrize(
    ("below", "over", "wanted"), [r[1:] for r in ROWS], ids=[r[0] for r in ROWS]
)
def test_merge(below: dict[str, Any], over: dict[str, Any], wanted: dict[str, Any]) -> None:
    assert prune(merge(below, over)) == wanted


@pytest.mark.parametrize(
    ("template", "path"),
    [
        ({"spec": {"containers": "exporter"}}, "podTemplate.spec.containers"),
        ({"spec": {"containers": [{"image": "a"}]}}, "podTemplate.spec.containers"),
        ({"spec": []}, "podTemplate.spec"),
        ({"spec": {"containers": [{"name": "exporter", "env": {"A": "1"}}]}}, "env must be a list"),
    ],
)
def test_invalid_templates_are_rejected_with_the_path(template: dict[str, Any], path: str) -> None:
    with pytest.raises(TemplateError, match=path.replace(".", r"\.")):
        merge(exporter(image="a"), template)


names = st.sampled_from(["a", "b", "c"])
quantities = st.dictionaries(
    st.sampled_from(["cpu", "memory", GPU, "amd.com/gpu"]), st.integers(0, 4), max_size=3
)
containers = st.builds(
    lambda name, image, env, limits, requests: {
        "name": name,
        "image": image,
        "env": [{"name": key, "value": value} for key, value in env.items()],
        "resources": {"limits": limits, "requests": requests},
    },
    names,
    names,
    st.dictionaries(names, names),
    quantities,
    quantities,
)
templates = st.builds(
    lambda labels, tolerations, found: {
        "metadata": {"labels": labels},
        "spec": {"tolerations": tolerations, "containers": found},
    },
    st.dictionaries(names, names),
    st.lists(st.builds(lambda key: {"key": key}, names), unique_by=str),
    st.lists(containers, unique_by=lambda entry: str(entry["name"])),
)


@given(templates)
def test_merging_a_template_over_itself_changes_nothing(template: dict[str, Any]) -> None:
    assert merge(template, template) == template


@given(templates, templates, templates)
def test_merging_is_associative(a: dict[str, Any], b: dict[str, Any], c: dict[str, Any]) -> None:
    assert merge(merge(a, b), c) == merge(a, merge(b, c))


@given(templates, templates)
def test_merging_does_not_change_its_arguments(a: dict[str, Any], b: dict[str, Any]) -> None:
    before = repr((a, b))
    merge(a, b)
    assert repr((a, b)) == before
