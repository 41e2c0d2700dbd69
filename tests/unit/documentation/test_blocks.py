"""Code blocks of the pages are what they say: manifests, programs and commands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from documentation.blocks import Block, blocks, commands, own_arguments
from modelexport_api import GROUP, KIND
from modelexport_api.resource import parse
from modelexport_api.status import Phase
from modelexport_api.trigger import TRIGGER_KIND
from modelexport_api.trigger_resource import parse_trigger
from modelexport_cli.main import parser

ROOT = Path(__file__).parents[3]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
_RENDER = ["render", "t.yaml", "--for", "-"]
_PARAMETER = re.compile(r"\{\{[\w.]+\}\}")


def found(*languages: str) -> Iterator[Any]:
    for page in PAGES:
        for block in blocks(page.read_text()):
            if block.language in languages:
                yield pytest.param(block, id=f"{page.relative_to(ROOT)}:{block.line}")


def objects(value: object) -> Iterator[dict[str, Any]]:
    """Yield the objects in a document, also those that another object holds as text.

    What names a kind and has no metadata only refers to it, as a health check of Flux does.
    """
    if isinstance(value, dict):
        if {"kind", "apiVersion", "metadata"} <= value.keys():
            yield value
        for inner in value.values():
            yield from objects(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from objects(inner)
    elif isinstance(value, str) and f"apiVersion: {GROUP}" in value:
        yield from objects(yaml.safe_load(_PARAMETER.sub("42", value)))


@pytest.mark.parametrize("block", list(found("yaml")))
def test_yaml_is_read_and_manifests_are_valid(block: Block) -> None:
    for document in yaml.safe_load_all(block.text):
        for one in objects(document):
            if one["kind"] == KIND:
                parse({**one, "metadata": {"name": "any", **_named(one)}})
            elif one["kind"] == TRIGGER_KIND:
                parse_trigger(one)


def _named(one: dict[str, Any]) -> dict[str, Any]:
    """Return the metadata as they are once the API server has made a name."""
    return {key: value for key, value in one["metadata"].items() if key != "generateName"}


@pytest.mark.parametrize("block", list(found("python")))
def test_programs_compile(block: Block) -> None:
    compile(block.text, "page", "exec")


@pytest.mark.parametrize("block", list(found("sh", "console")))
def test_commands_are_accepted(block: Block) -> None:
    for line in commands(block):
        for arguments in own_arguments(line):
            parser().parse_args(arguments)


def test_the_workflow_follows_phases_that_exist() -> None:
    page = (ROOT / "docs" / "ci.md").read_text()
    documents = [yaml.safe_load(one.text) for one in blocks(page) if one.language == "yaml"]
    (workflow,) = [one for one in documents if one.get("kind") == "Workflow"]
    (step,) = [one["resource"] for one in workflow["spec"]["templates"] if "resource" in one]
    phases = {step[key].partition(" == ")[2] for key in ("successCondition", "failureCondition")}
    assert phases == {Phase.SUCCEEDED.value, Phase.FAILED.value}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("modelexport run a.yaml", [["run", "a.yaml"]]),
        ("modelexport run a.yaml   # on this machine", [["run", "a.yaml"]]),
        (".venv/bin/modelexport inspect m.onnx", [["inspect", "m.onnx"]]),
        ("kubectl get job x | modelexport render t.yaml --for -", [_RENDER]),
        ("modelexport init a.pt > a.yaml", [["init", "a.pt"]]),
        ("modelexport run a.yaml && modelexport init b.pt", [["run", "a.yaml"], ["init", "b.pt"]]),
        ("kubectl get modelexport digits", []),
        ("pip install './modelexport[exporter]'", []),
    ],
)  # fmt: skip
def test_arguments(line: str, expected: list[list[str]]) -> None:
    assert own_arguments(line) == expected


def test_a_console_has_commands_and_what_they_print() -> None:
    (block,) = blocks(
        "# Page\n\n```console\n$ modelexport run a \\\n    -o json\nmodelexport: no\n```\n"
    )
    assert commands(block) == ["modelexport run a -o json"]
    assert block.line == 3
