"""config.pbtxt as a table, read back with Triton's own schema and held against its rules."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelexport_api.reasons import Reason
from modelexport_api.spec import ModelExportSpec
from modelexport_api.status import TensorInfo
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.report.triton_config import (
    DTYPES,
    Served,
    batch_dim,
    check_servable,
    config_text,
    with_session_shapes,
)
from triton_rules import complaints, dtype, parsed, refusals

Shape = list[int | str]


def tensor(name: str, *shape: int | str, dtype: str = "float32") -> TensorInfo:
    return TensorInfo(name=name, dtype=dtype, shape=list(shape))


def served(*tensors: TensorInfo, batch: int = 0, provider: str = "CPU", name: str = "m") -> Any:  # noqa: ANN401
    half = len(tensors) // 2
    return parsed(config_text(Served(name, tensors[:half], tensors[half:], batch, provider)))


@pytest.mark.parametrize(
    ("shape", "batch", "dims", "reshaped"),
    [
        pytest.param(["batch", 3, 8], 64, [3, 8], False, id="a batch of fixed rows"),
        pytest.param(["batch", "seq"], 64, [-1], False, id="a batch of dynamic rows"),
        pytest.param(["batch"], 64, [1], True, id="a batch of scalars"),
        pytest.param(["batch", 3], 0, [-1, 3], False, id="dynamic, not batched"),
        pytest.param([2, "?"], 0, [2, -1], False, id="a size that nobody knows"),
        pytest.param([], 0, [1], False, id="a scalar"),
    ],
)
def test_dims(shape: Shape, batch: int, dims: list[int], reshaped: bool) -> None:
    config = served(tensor("x", *shape), tensor("y", *shape), batch=batch)
    for entry in (*config.input, *config.output):
        assert list(entry.dims) == dims
        assert entry.HasField("reshape") is reshaped
        assert list(entry.reshape.shape) == []
    assert config.max_batch_size == batch
    assert config.HasField("dynamic_batching") is (batch > 0)
    assert complaints(config) == []


@pytest.mark.parametrize("name", DTYPES)
def test_every_type_is_one_of_triton_s(name: str) -> None:
    config = served(tensor("x", 1, dtype=name), tensor("y", 1, dtype=name))
    assert dtype(config.input[0]) == DTYPES[name]


@pytest.mark.parametrize(
    ("provider", "kind", "accelerators"),
    [("CPU", "KIND_CPU", []), ("CUDA", "KIND_GPU", []), ("TensorRT", "KIND_GPU", ["tensorrt"])],
)
def test_it_runs_where_it_was_verified(provider: str, kind: str, accelerators: list[str]) -> None:
    config = served(tensor("x", 1), tensor("y", 1), provider=provider)
    (group,) = config.instance_group
    assert group.Kind.Name(group.kind) == kind
    gpu = config.optimization.execution_accelerators.gpu_execution_accelerator
    assert [entry.name for entry in gpu] == accelerators
    assert (config.platform, config.backend) == ("onnxruntime_onnx", "onnxruntime")


def spec(**dims: dict[str, int]) -> ModelExportSpec:
    return ModelExportSpec.model_validate(
        {
            "source": {"uri": "s3://a/model.pt"},
            "inputs": [{"name": "x", "shape": [*dims, 4]}],
            "dims": dims,
            "destination": {"uri": "s3://a/repository/m/", "layout": "Triton"},
        }
    )


@pytest.mark.parametrize(
    ("low", "high", "tensors", "expected"),
    [
        pytest.param(1, 8, [("n", 4), ("n",)], "n", id="all begin with it"),
        pytest.param(0, 8, [("n", 4), ("n",)], "n", id="also empty batches"),
        pytest.param(1, 8, [("n", 4), (4, "n")], None, id="an output does not"),
        pytest.param(1, 8, [("n", 4), ()], None, id="an output is a scalar"),
        pytest.param(1, 8, [("n", 4), ("2*n",)], None, id="an output has twice as many"),
        pytest.param(1, 8, [(3, 4), (3,)], None, id="the size is fixed"),
        pytest.param(1, 8, [("?", 4), ("?",)], None, id="nobody knows the size"),
        pytest.param(2, 8, [("n", 4), ("n",)], None, id="a single row is not allowed"),
        pytest.param(1, 1, [("n", 4), ("n",)], None, id="it has one size only"),
    ],
)
def test_batching_is_for_one_dynamic_dim_in_front_of_all(
    low: int, high: int, tensors: list[Any], expected: str | None
) -> None:
    described = [tensor(f"t{place}", *shape) for place, shape in enumerate(tensors)]
    assert batch_dim(spec(n={"min": low, "max": high}), described) == expected


@pytest.mark.parametrize(
    "refused",
    [tensor("x", 2, dtype="complex64"), tensor("x", 0, 3), tensor("x", dtype="undefined")],
    ids=["complex numbers", "nothing in it", "a sequence"],
)
def test_what_triton_does_not_take_is_refused(refused: TensorInfo) -> None:
    with pytest.raises(ExportFailure) as caught:
        check_servable([tensor("a", "n"), refused])
    assert caught.value.reason is Reason.CONTRACT_VIOLATED
    assert "x" in caught.value.message


NAMES = st.text(min_size=1, max_size=30)
SIZES = st.integers(1, 2**31) | st.sampled_from(["batch", "seq", "?", "2*batch"])
TENSORS = st.builds(
    TensorInfo,
    name=NAMES,
    dtype=st.sampled_from(sorted(DTYPES)),
    shape=st.lists(SIZES, max_size=4),
)


@given(name=NAMES, tensors=st.lists(TENSORS, min_size=2, max_size=6), provider=st.just("CUDA"))
def test_triton_reads_what_was_meant(name: str, tensors: list[TensorInfo], provider: str) -> None:
    config = served(*tensors, name=name, provider=provider)
    assert config.name == name
    found = [*config.input, *config.output]
    assert [entry.name for entry in found] == [entry.name for entry in tensors]
    assert [dtype(entry) for entry in found] == [DTYPES[entry.dtype] for entry in tensors]
    assert complaints(config) == []


def session(x: Shape, weight: tuple[int, ...], declared: Shape) -> onnxruntime.InferenceSession:
    """A matrix product whose output is declared with less than the runtime can infer."""
    value, kind = onnx.helper.make_tensor_value_info, onnx.TensorProto.FLOAT
    zeros = onnx.numpy_helper.from_array(np.zeros(weight, np.float32), "w")
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("MatMul", ["x", "w"], ["y"])],
        "g",
        [value("x", kind, x)],
        [value("y", kind, declared)],
        [zeros],
    )
    opset = onnx.helper.make_opsetid("", 20)
    model = onnx.helper.make_model(graph, opset_imports=[opset], ir_version=10)
    return onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )


@pytest.mark.parametrize("batch", [0, 64])
def test_a_size_that_the_runtime_infers_is_not_left_open(batch: int) -> None:
    """Triton compares outputs exactly: -1 for a size that the session knows is refused."""
    loaded = session(["batch", 4], (4, 10), ["batch", "u"])
    declared = tensor("y", "batch", "u")
    (stated,) = with_session_shapes([declared], {"y": tuple(loaded.get_outputs()[0].shape)})
    assert stated.shape == ["batch", 10]
    assert refusals(served(tensor("x", "batch", 4), stated, batch=batch), loaded) == []
    naive = served(tensor("x", "batch", 4), declared, batch=batch)
    assert refusals(naive, loaded) == ["y: [-1, -1] for [-1, 10]"]
