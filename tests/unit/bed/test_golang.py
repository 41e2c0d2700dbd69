"""A Go part is built in a module that pins it, and nothing else decides what is built."""

from __future__ import annotations

import json

import pytest

from bed import golang


def test_the_throw_away_module_pins_part_and_staging_modules() -> None:
    text = golang.go_mod(golang.KUBERNETES, ["k8s.io/api", "k8s.io/kubelet"])
    assert "require k8s.io/kubernetes v1.36.3" in text
    assert "replace k8s.io/api => k8s.io/api v0.36.3" in text
    assert "replace k8s.io/kubelet => k8s.io/kubelet v0.36.3" in text


def test_only_replacements_by_directories_are_staging_modules() -> None:
    replaces = [
        {"Old": {"Path": "k8s.io/api"}, "New": {"Path": "./staging/src/k8s.io/api"}},
        {"Old": {"Path": "example.org/a"}, "New": {"Path": "example.org/b", "Version": "v1.0.0"}},
    ]
    assert golang.staging_modules(json.dumps({"Replace": replaces})) == ["k8s.io/api"]


def test_a_module_without_replacements_has_no_staging_modules() -> None:
    assert golang.staging_modules('{"Module": {"Path": "example.org/a"}}') == []


@pytest.mark.parametrize(
    ("import_path", "name"),
    [
        pytest.param("go.etcd.io/etcd/server/v3", "server", id="major version at the end"),
        pytest.param("k8s.io/kubernetes/cmd/kubelet", "kubelet", id="a command's directory"),
        pytest.param("helm.sh/helm/v4/cmd/helm", "helm", id="major version in the middle"),
    ],
)
def test_go_names_a_binary_after_its_import_path(import_path: str, name: str) -> None:
    assert golang.built_name(import_path) == name


@pytest.mark.parametrize("part", golang.PARTS, ids=lambda part: part.name)
def test_parts_are_cached_by_version(part: golang.GoPart) -> None:
    assert part.directory.name == f"{part.name}-{part.version}"
