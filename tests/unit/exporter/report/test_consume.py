"""The snippets are right: they compile, and name what the file takes."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from modelexport_exporter.report.consume import Snippet, snippets_of
from unit.exporter.report.reports import artifact, failed, report, spec


def tensor(name: str, dtype: str, *shape: int | str) -> dict[str, Any]:
    return {"name": name, "dtype": dtype, "shape": list(shape)}


def run_snippet(**more: object) -> Snippet:
    return next(s for s in snippets_of(report(**more)) if "onnxruntime" in s.title)


def feed_of(snippet: Snippet) -> dict[str, Any]:
    """Return what the snippet feeds, made by its own lines."""
    lines = snippet.code.splitlines()
    own = [line for line in lines[4:] if not line.startswith(("outputs", "for", "    print"))]
    scope: dict[str, Any] = {}
    exec("\n".join(["import numpy as np", *own]), scope)
    found: dict[str, Any] = scope["feed"]
    return found


def test_a_failure_has_nothing_to_use() -> None:
    assert snippets_of(failed("CaptureFailed")) == ()


def test_every_input_has_its_name_type_and_shape() -> None:
    inputs = [
        tensor("x", "float32", "batch", 4),
        tensor("flags", "bool", "batch"),
        tensor("scale", "float64"),
        tensor('it\'s "odd"', "int64", "batch", "not an identifier"),
    ]
    feed = feed_of(run_snippet(artifact=artifact(inputs=inputs)))
    assert {name: (str(array.dtype), array.shape) for name, array in feed.items()} == {
        "x": ("float32", (1, 4)),
        "flags": ("bool", (1,)),
        "scale": ("float64", ()),
        'it\'s "odd"': ("int64", (1, 1)),
    }


def test_values_and_sizes_are_within_the_declared_ranges() -> None:
    asked = spec(
        inputs=[{"name": "x", "dtype": "int64", "shape": ["batch"], "range": [5, 9]}],
        dims={"batch": {"min": 3, "max": 8}},
    )
    made = artifact(inputs=[tensor("x", "int64", "batch")])
    feed = feed_of(run_snippet(spec=asked, artifact=made))
    assert feed["x"].tolist() == [5, 5, 5]


@pytest.mark.parametrize("name", ["np", "feed", "class", "import os", "s0 // 2"])
def test_a_dim_that_can_be_no_variable_is_a_number(name: str) -> None:
    feed = feed_of(run_snippet(artifact=artifact(inputs=[tensor("x", "float32", name, 2)])))
    assert feed["x"].shape == (1, 2)


def test_a_type_that_numpy_lacks_is_named() -> None:
    snippet = run_snippet(artifact=artifact(inputs=[tensor("x", "bfloat16", 2)]))
    assert "bfloat16 has no numpy type" in snippet.code
    assert feed_of(snippet) == {}


@pytest.mark.parametrize(("outputs", "asked"), [(2, "['o0', 'o1']"), (9, "None")])
def test_few_outputs_are_asked_for_by_name(outputs: int, asked: str) -> None:
    made = artifact(outputs=[tensor(f"o{index}", "float32") for index in range(outputs)])
    assert f"session.run({asked}, feed)" in run_snippet(artifact=made).code


@pytest.mark.parametrize(
    ("export", "said"),
    [
        ({"weights": "Omitted"}, "weights are inputs"),
        ({"runtimeLibraries": ["file:///x.so"]}, "register_custom_ops_library"),
        ({"unsupportedOps": "FallThrough"}, "fell through"),
        ({}, ""),
    ],
)
def test_what_else_a_consumer_needs_is_said(export: dict[str, Any], said: str) -> None:
    note = run_snippet(spec=spec(export=export)).note
    assert said in note
    assert bool(said) == bool(note)


def test_files_in_s3_are_fetched_from_their_endpoint() -> None:
    asked = spec(storage={"endpoint": "https://s3.example.com"})
    (snippet, *_) = snippets_of(report(spec=asked))
    assert snippet.code.startswith(
        "aws s3 cp --recursive --endpoint-url https://s3.example.com s3://models/onnx/ .\n"
    )


def test_files_in_a_volume_are_checked_in_a_pod_that_mounts_it() -> None:
    asked = spec(destination={"uri": "pvc://models/a b/"})
    (snippet, *_) = snippets_of(report(spec=asked))
    assert snippet.code.startswith(
        "# in a pod that mounts the PersistentVolumeClaim models at /mnt\ncd '/mnt/a b/'\n"
    )


def test_the_sums_of_local_files_are_checked_as_they_stand(tmp_path: Path) -> None:
    """The commands run in a shell; a changed file is reported."""
    directory = tmp_path / "a directory; with $odd names"
    directory.mkdir()
    (directory / "model.onnx").write_bytes(b"content")
    digest = "ed7002b439e9ac845f22357d822bac1444730fbdb6016d3ec9432297b9ec9f73"
    asked = spec(destination={"uri": directory.as_uri()})
    files = [{"name": "model.onnx", "sha256": digest, "sizeBytes": 7}]
    (snippet, *_) = snippets_of(report(spec=asked, artifact=artifact(files=files)))
    done = subprocess.run(["sh", "-c", snippet.code], capture_output=True, text=True, check=True)
    assert done.stdout == "model.onnx: OK\n"
    (directory / "model.onnx").write_bytes(b"changed")
    assert subprocess.run(["sh", "-c", snippet.code], check=False).returncode != 0


def test_triton_has_a_client_of_its_own() -> None:
    asked = spec(destination={"uri": "s3://repository/digits/", "layout": "Triton"})
    snippet = snippets_of(report(spec=asked))[-1]
    compile(snippet.code, "snippet", "exec")
    assert "--model-repository=s3://repository" in snippet.code
    assert "client.infer('digits', inputs)" in snippet.code
    assert "['FP32']" in snippet.code
    assert "'1/model.onnx'" in run_snippet(spec=asked).code


def test_sizes_that_follow_from_a_dim_and_masks() -> None:
    asked = spec(
        inputs=[
            {"name": "gaps", "shape": ["n - 1"]},
            {"name": "mask", "kind": "AttentionMask", "dtype": "bool", "shape": ["n"]},
        ],
        dims={"n": {"min": 3, "max": 8}},
    )
    made = artifact(inputs=[tensor("gaps", "float32", "n - 1"), tensor("mask", "bool", "n")])
    feed = feed_of(run_snippet(spec=asked, artifact=made))
    assert feed["gaps"].shape == (2,)
    assert feed["mask"].tolist() == [True, True, True]
