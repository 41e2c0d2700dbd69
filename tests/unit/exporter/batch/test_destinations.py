"""Where each checkpoint goes, and what is refused before any work."""

from __future__ import annotations

import pytest

from batches import batch
from modelexport_api.reasons import Reason
from modelexport_api.spec import Layout
from modelexport_exporter.batch.destinations import (
    item_of,
    resolve,
    resolve_all,
    root_of,
    single_of,
)
from modelexport_exporter.core.errors import ExportFailure

GLOB = {"uri": "s3://b/run/*.pt"}


@pytest.mark.parametrize(
    ("template", "uri", "expected"),
    [
        ("s3://o/{stem}/", "s3://b/run/fold-3.ckpt", "s3://o/fold-3/"),
        ("s3://o/{name}", "s3://b/run/fold-3.ckpt", "s3://o/fold-3.ckpt"),
        ("s3://o/{parent}/{index}/", "s3://b/run/fold-3.ckpt", "s3://o/run/7/"),
        ("pvc://o/{parent}/{stem}/", "pvc://c/run 1/a%2e.pt", "pvc://o/run 1/a%2e/"),
        ("s3://o/{parent}-{stem}/", "s3://b/a.pt", "s3://o/b-a/"),
        ("s3://o/{stem}/", "s3://b/w.fp16.safetensors", "s3://o/w.fp16/"),
        ("s3://o/{stem}/", "s3://b/epoch=3-step=12.5.ckpt", "s3://o/epoch=3-step=12.5/"),
        ("s3://o/{stem}/", "s3://b/epoch-2.5/", "s3://o/epoch-2.5/"),
        ("s3://o/{name}-{stem}", "s3://b/run/checkpoint.1/", "s3://o/checkpoint.1-checkpoint.1"),
        ("s3://o/{stem}/", "s3://b/.hidden", "s3://o/.hidden/"),
        ("s3://o/{stem}/", "file:///d/my%20model.pt", "s3://o/my model/"),
        ("file:///o/{stem}/", "file:///d/my%20model.pt", "file:///o/my%20model/"),
        ("file:///o/{stem}/", "s3://b/50%?.pt", "file:///o/50%25%3F/"),
        ("s3://o/{stem}/", "s3://b/50%20?.pt", "s3://o/50%20?/"),
        ("s3://o/x/", "s3://b/a.pt", "s3://o/x/"),
    ],
)
def test_placeholders(template: str, uri: str, expected: str) -> None:
    assert resolve(template, uri, 7) == expected


@pytest.mark.parametrize(
    ("template", "uri"),
    [
        ("s3://o/{stem}/", "s3://b/...pt"),
        ("s3://o/{parent}/x", "file:///model.pt"),
        ("s3://o/{name}/", "file:///d/..%2F"),
    ],
)
def test_what_is_no_name_of_a_directory(template: str, uri: str) -> None:
    with pytest.raises(ExportFailure, match="not a valid directory name") as caught:
        resolve(template, uri, 0)
    assert caught.value.reason is Reason.INVALID_MANIFEST


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("s3://o/{stem}/", "s3://o/"),
        ("s3://o/onnx/v1-{stem}/x/", "s3://o/onnx/"),
        ("file:///o/{parent}/{stem}", "file:///o/"),
    ],
)
def test_the_root_of_a_batch(template: str, expected: str) -> None:
    assert root_of(template) == expected


def test_a_bucket_by_placeholder_is_refused() -> None:
    with pytest.raises(ExportFailure, match="in its bucket"):
        root_of("s3://{stem}/onnx/")


def test_one_name_twice_is_refused_with_both_sources() -> None:
    spec = batch(GLOB, "s3://o/{stem}/").spec
    with pytest.raises(ExportFailure) as caught:
        resolve_all(spec, ["s3://b/1/model.pt", "s3://b/x.pt", "s3://b/2/model.ckpt"])
    assert caught.value.reason is Reason.DESTINATIONS_COLLIDE
    assert "both s3://b/1/model.pt and s3://b/2/model.ckpt" in caught.value.message
    assert "{parent}" in caught.value.hint


def test_the_batchs_own_directory_is_refused() -> None:
    spec = batch(GLOB, "s3://o/{stem}/x").spec
    with pytest.raises(ExportFailure, match="plan and results") as caught:
        resolve_all(spec, ["s3://b/batches.pt"])
    assert caught.value.reason is Reason.DESTINATIONS_COLLIDE


def test_a_name_that_triton_refuses_is_refused_with_its_source() -> None:
    plain = batch(GLOB, "s3://o/{stem}/").spec
    triton = plain.destination.model_copy(update={"layout": Layout.TRITON})
    spec = plain.model_copy(update={"destination": triton})
    with pytest.raises(ExportFailure, match=r"s3://b/my fold\.pt would be .* layout Triton") as one:
        resolve_all(spec, ["s3://b/fine.pt", "s3://b/my fold.pt"])
    assert one.value.reason is Reason.INVALID_MANIFEST


def test_a_checkpoint_is_an_ordinary_export_of_the_batchs_name() -> None:
    resource = batch(GLOB, "s3://o/{stem}/", uid="u", parallelism=3, maxFailed=2, mode="Verify")
    item = item_of(resource, "s3://b/run/[1].pt", "s3://o/[1]/")
    assert item.metadata == resource.metadata
    assert item.spec.source.one == "s3://b/run/[1].pt"
    assert (item.spec.parallelism, item.spec.max_failed) == (1, 0)
    assert item.spec.mode == "Verify"
    assert item.spec.model == resource.spec.model


def test_a_single_export_has_placeholders_too() -> None:
    resource = batch({"uri": "s3://b/run-7/best.pt"}, "s3://o/{parent}/{index}")
    assert single_of(resource).spec.destination.uri == "s3://o/run-7/0"
    plain = batch({"uri": "s3://b/run-7/best.pt"}, "s3://o/best/")
    assert single_of(plain) is plain
