"""Which claims a pod mounts, where, and what a template cannot take from them."""

from __future__ import annotations

from typing import Any

import pytest

from modelexport_api.claims import CLAIMS_DIR_ENV, claims_of
from modelexport_operator.claims import volume_name
from modelexport_operator.job import JobError, build
from unit.operator.objects import SETTINGS, export

READ = {"source": {"uri": "pvc://training/run-7/model.pt"}}
CODE = {"model": {"factory": "net:build", "code": {"uri": "pvc://code/net/"}}}
WRITTEN = {"destination": {"uri": "pvc://models/digits/"}}
SAME = {"destination": {"uri": "pvc://training/run-7/onnx/"}}
BATCH = {
    "source": {"uri": "pvc://training/run-*/model.pt"},
    "destination": {"uri": "pvc://models/{parent}/"},
}
LISTED = {
    "source": {"uris": ["pvc://a/x.pt", "pvc://b/x.pt"]},
    "destination": {"uri": "s3://models/{index}/"},
}
NAME = volume_name("training")


@pytest.mark.parametrize(
    ("spec", "claims"),
    [
        ({}, {}),
        (READ, {"training": False}),
        (READ | CODE, {"training": False, "code": False}),
        (READ | WRITTEN, {"training": False, "models": True}),
        (READ | SAME, {"training": True}),
        (BATCH, {"training": False, "models": True}),
        (LISTED, {"a": False, "b": False}),
        ({"verification": {"goldenInputs": "pvc://golden/a.npz"}}, {"golden": False}),
        ({"export": {"runtimeLibraries": ["pvc://ops/lib.so"]}}, {"ops": False}),
        ({"mode": "Verify", "artifact": {"uri": "pvc://old/model.onnx"}}, {"old": False}),
    ],
)
def test_the_pod_mounts_what_the_spec_names_and_writes_to_its_destination_only(
    spec: dict[str, Any], claims: dict[str, bool]
) -> None:
    asked = export(spec)
    assert claims_of(asked.spec) == claims
    pod = build(asked, SETTINGS)["spec"]["template"]["spec"]
    mounts = {
        entry["mountPath"].removeprefix("/volumes/"): not entry["readOnly"]
        for entry in pod["containers"][0]["volumeMounts"]
        if entry["mountPath"].startswith("/volumes/")
    }
    assert mounts == claims
    volumes = [v["persistentVolumeClaim"] for v in pod["volumes"] if "persistentVolumeClaim" in v]
    assert {v["claimName"]: not v.get("readOnly", False) for v in volumes} == claims
    assert not any("subPath" in entry for entry in pod["containers"][0]["volumeMounts"])


@pytest.mark.parametrize("read_only", [False, True])
def test_a_claim_that_the_template_has_is_one_volume(read_only: bool) -> None:
    source = {"claimName": "training", **({"readOnly": True} if read_only else {})}
    template = {"spec": {"volumes": [{"name": "mine", "persistentVolumeClaim": source}]}}
    pod = build(export({**READ, "podTemplate": template}), SETTINGS)["spec"]["template"]["spec"]
    assert [v["name"] for v in pod["volumes"] if "persistentVolumeClaim" in v] == ["mine"]
    mount = pod["containers"][0]["volumeMounts"][-1]
    assert mount == {"name": "mine", "mountPath": "/volumes/training", "readOnly": True}


@pytest.mark.parametrize(
    ("pod", "words"),
    [
        ({"volumes": [{"name": NAME, "emptyDir": {}}]}, "choose another name"),
        (
            {
                "volumes": [
                    {
                        "name": "mine",
                        "persistentVolumeClaim": {"claimName": "training", "readOnly": True},
                    }
                ]
            },
            "is readOnly, and destination.uri is in its claim",
        ),
        *(
            (
                {
                    "volumes": [{"name": "mine", "emptyDir": {}}],
                    "containers": [
                        {"name": "exporter", "volumeMounts": [{"name": "mine", "mountPath": path}]}
                    ],
                },
                "choose another path",
            )
            for path in (
                *("/volumes", "/volumes/", "/volumes/training", "/tmp/../volumes/training"),
                *("//volumes/x", "volumes", "/"),
            )
        ),
        (
            {"containers": [{"name": "exporter", "env": [{"name": CLAIMS_DIR_ENV, "value": "/"}]}]},
            "is set by the operator",
        ),
    ],
)
def test_a_template_that_would_take_the_place_of_a_claim_is_rejected(
    pod: dict[str, Any], words: str
) -> None:
    with pytest.raises(JobError, match=words) as caught:
        build(export({**READ, **SAME, "podTemplate": {"spec": pod}}), SETTINGS)
    assert str(caught.value).startswith("spec.podTemplate")


def test_names_of_volumes_are_labels_whatever_the_claim_is_called() -> None:
    names = {volume_name(claim) for claim in ("a", "a.b", "a-b", "x" * 253)}
    assert len(names) == 4
    assert all(len(name) <= 63 and "." not in name for name in names)
