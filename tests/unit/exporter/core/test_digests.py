from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from modelexport_api.spec import ModelExportSpec
from modelexport_exporter.core.digests import (
    BY_CONTENT,
    NOT_THE_WORK,
    digest_of,
    source_digest,
    spec_digest,
    work_of,
)
from modelexport_exporter.core.types import SourceFile

VERSIONS = {"modelexport": "1"}
THE_WORK = {
    *("mode", "outputs", "outputShapes", "dims.min", "dims.max", "isolation"),
    *("source.format", "source.stateDictKey", "source.allowPickle"),
    *("source.unusedWeights", "source.factoryWeights"),
    *("model.factory", "model.kwargs", "model.exampleInputs", "model.state", "model.training"),
    *(f"inputs.{name}" for name in ("name", "kind", "dtype", "shape", "length", "range", "value")),
    *("export.exporter", "export.opset", "export.customOpsets", "export.optimize"),
    *("export.precision", "export.unsupportedOps", "export.plugins", "export.rewrites.disabled"),
    *("export.weights", "export.parameterNames", "verification.benchmark"),
    "verification.benchmarkSeconds",
    *("verification.allowIncomplete", "verification.provider", "verification.sampler"),
    *("verification.tolerance.atol", "verification.tolerance.rtol"),
}


def spec(**changes: Any) -> ModelExportSpec:  # noqa: ANN401
    return ModelExportSpec.model_validate(
        {
            "source": {"uri": "s3://a/model.pt"},
            "model": {"factory": "m:build", "kwargs": {"n": 4}},
            "inputs": [{"name": "x", "shape": ["batch", 4]}],
            "dims": {"batch": {"max": 8}},
            "destination": {"uri": "s3://a/out/"},
            **changes,
        }
    )


def digest(contents: Mapping[str, object] | None = None, **changes: Any) -> str:  # noqa: ANN401
    return spec_digest(spec(**changes), contents or {}, VERSIONS)


@pytest.mark.parametrize(
    "changes",
    [
        {"source": {"uri": "s3://b/elsewhere.pt"}},
        {"source": {"uri": "s3://a/model.pt", "sha256": "0" * 64}},
        {"destination": {"uri": "s3://b/out/", "overwrite": "Always"}},
        {"destination": {"uri": "s3://b/out/", "layout": "Triton"}},
        {"storage": {"endpoint": "http://other"}},
        {"backoffLimit": 1, "activeDeadlineSeconds": 7},
        {"podTemplate": {"spec": {"nodeSelector": {"a": "b"}}}},
    ],
)
def test_where_and_how_it_runs_is_the_same_work(changes: dict[str, Any]) -> None:
    assert digest(**changes) == digest()


@pytest.mark.parametrize(
    "changes",
    [
        {"source": {"uri": "s3://a/model.pt", "stateDictKey": "ema"}},
        {"source": {"uri": "s3://a/model.pt", "format": "StateDict"}},
        {"model": {"factory": "m:other", "kwargs": {"n": 4}}},
        {"model": {"factory": "m:build", "kwargs": {"n": 5}}},
        {"inputs": [{"name": "y", "shape": ["batch", 4]}]},
        {"dims": {"batch": {"max": 9}}},
        {"model": {"factory": "m:build", "kwargs": {"n": 4}, "training": True}},
        {"model": {"factory": "m:build", "kwargs": {"n": 4}, "exampleInputs": "m:inputs"}},
        {"model": {"factory": "m:build", "kwargs": {"n": 4, "code": {"uri": "s3://a/"}}}},
        {"source": {"uri": "s3://a/model.pt", "allowPickle": True}},
        {"outputs": ["y"]},
        {"export": {"opset": 18}},
        {"verification": {"tolerance": {"rtol": 1e-3}}},
    ],
)
def test_what_determines_the_artifact_is_other_work(changes: dict[str, Any]) -> None:
    assert digest(**changes) != digest()


def test_recorded_inputs_count_by_their_content() -> None:
    golden = {"verification": {"goldenInputs": "s3://a/golden.npz"}}
    moved = {"verification": {"goldenInputs": "s3://b/golden.npz"}}
    one, other = {"goldenInputs": "1" * 64}, {"goldenInputs": "2" * 64}
    assert digest(one, **golden) == digest(one, **moved)
    assert digest(one, **golden) != digest(other, **golden)


def test_code_and_versions_are_part_of_the_work() -> None:
    assert digest({"code": "abc"}) != digest()
    assert digest({"runtimeLibraries": ["abc"]}) != digest({"runtimeLibraries": ["abd"]})
    assert spec_digest(spec(), {}, {"modelexport": "2"}) != digest()


def fields_of(model: type[BaseModel], path: str = "") -> Iterator[str]:
    """Yield the path of each field that holds no other fields."""
    for name, field in model.model_fields.items():
        where = f"{path}{field.alias or name}"
        parts = get_args(field.annotation) or (field.annotation,)
        nested = [part for part in parts if isinstance(part, type) and issubclass(part, BaseModel)]
        if not nested:
            yield where
        yield from (path for inner in nested for path in fields_of(inner, f"{where}."))


def test_each_field_was_decided_upon() -> None:
    left_out = NOT_THE_WORK | BY_CONTENT
    assert not left_out & THE_WORK
    assert set(fields_of(ModelExportSpec)) == left_out | THE_WORK


@pytest.mark.parametrize("branch", ["destination", "storage", "artifact"])
def test_a_new_field_below_a_branch_is_part_of_the_work(branch: str) -> None:
    """As long as nobody listed it, a branch that is left out field by field keeps it."""
    new = spec().to_wire()
    new[branch] = {**new.get(branch, {}), "added": "later"}
    assert work_of(new) == {**work_of(spec().to_wire()), branch: {"added": "later"}}


def test_one_file_has_its_own_digest_and_order_does_not_matter() -> None:
    one, two = SourceFile("a", 1, "1" * 64), SourceFile("b", 1, "2" * 64)
    assert source_digest([one]) == "1" * 64
    assert source_digest([one, two]) == source_digest([two, one]) != "1" * 64


@given(st.dictionaries(st.text(), st.integers() | st.text() | st.none()))
def test_the_order_of_keys_does_not_matter(value: dict[str, object]) -> None:
    assert digest_of(value) == digest_of(dict(reversed(value.items())))
