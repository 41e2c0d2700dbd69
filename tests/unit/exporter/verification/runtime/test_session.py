from __future__ import annotations

from pathlib import Path

import ml_dtypes
import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from onnx import TensorProto, helper

from modelexport_api.reasons import Reason
from modelexport_api.spec import Provider
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.providers import choose_provider
from modelexport_exporter.verification.runtime import session as session_module
from modelexport_exporter.verification.runtime.cuda_libraries import missing_libraries
from modelexport_exporter.verification.runtime.session import Session


def write(
    path: Path,
    op: str,
    element: int = TensorProto.FLOAT,
    shape: tuple[str | int | None, ...] = ("n", 3),
) -> Path:
    graph = helper.make_graph(
        [helper.make_node(op, ["x"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", element, shape)],
        [helper.make_tensor_value_info("y", element, shape)],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
    onnx.save(model, path)
    return path


@pytest.mark.parametrize(
    ("requested", "cuda", "expected"),
    [
        pytest.param(None, True, Provider.CUDA, id="a GPU is used"),
        pytest.param(None, False, Provider.CPU, id="without one, the CPU"),
        pytest.param(Provider.CPU, True, Provider.CPU, id="CPU on request"),
        pytest.param(Provider.CUDA, True, Provider.CUDA, id="CUDA on request"),
    ],
)
def test_chosen_provider(requested: Provider | None, cuda: bool, expected: Provider) -> None:
    assert choose_provider(requested, cuda_available=cuda) is expected


def test_number_is_a_0_dim_array(tmp_path: Path) -> None:
    session = Session(write(tmp_path / "m.onnx", "Neg", shape=()), Provider.CPU)
    (answer,) = session.run({"x": np.array(2.5, dtype=np.float32)}, "here")
    assert answer.shape == ()


def test_output_that_is_an_input_outlives_it(tmp_path: Path) -> None:
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ("n", 3))
    graph = helper.make_graph([], "g", [x], [x])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
    onnx.save(model, tmp_path / "m.onnx")
    session = Session(tmp_path / "m.onnx", Provider.CPU)
    given = np.ones((2, 3), np.float32)
    (answer,) = session.run({"x": given}, "here")
    given[:] = 7
    assert (answer == 1).all()


def test_requested_gpu_that_torch_does_not_see_is_refused() -> None:
    with pytest.raises(ExportFailure, match="torch sees no GPU") as caught:
        choose_provider(Provider.CUDA, cuda_available=False)
    assert caught.value.reason is Reason.PROVIDER_UNAVAILABLE
    assert "NVIDIA GPU" in caught.value.hint


@pytest.mark.skipif(torch.cuda.is_available(), reason="needs a machine without a GPU")
def test_silent_fallback_to_the_cpu_is_refused(tmp_path: Path) -> None:
    """onnxruntime really does that here: it offers CUDA, finds no driver, and runs on the CPU."""
    if "CUDAExecutionProvider" not in onnxruntime.get_available_providers():
        pytest.skip("needs onnxruntime-gpu")
    with pytest.raises(ExportFailure) as caught:
        Session(write(tmp_path / "m.onnx", "Relu"), Provider.CUDA)
    assert caught.value.reason is Reason.PROVIDER_UNAVAILABLE
    assert caught.value.hint


def test_missing_cuda_libraries_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: ["CUDAExecutionProvider"])
    monkeypatch.setattr(session_module, "missing_libraries", lambda _provider: ["libcurand.so.10"])
    with pytest.raises(ExportFailure, match=r"libcurand\.so\.10") as caught:
        Session(write(tmp_path / "m.onnx", "Relu"), Provider.CUDA)
    assert caught.value.reason is Reason.PROVIDER_UNAVAILABLE


@pytest.mark.parametrize("prepack", [True, False])
def test_session_runs_and_reports_its_provider(tmp_path: Path, prepack: bool) -> None:
    session = Session(write(tmp_path / "m.onnx", "Relu"), Provider.CPU, prepack=prepack)
    array = np.array([[-1, 0, 2]], np.float32)
    assert session.provider is Provider.CPU
    assert session.output_names == ("y",)
    np.testing.assert_array_equal(session.run({"x": array}, "n=1")[0], [[0, 0, 2]])


@pytest.mark.parametrize(
    ("element", "dtype"),
    [
        (TensorProto.BFLOAT16, ml_dtypes.bfloat16),
        (TensorProto.FLOAT16, np.float16),
        (TensorProto.DOUBLE, np.float64),
        (TensorProto.BOOL, np.bool_),
        (TensorProto.UINT8, np.uint8),
        (TensorProto.INT64, np.int64),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
@pytest.mark.parametrize("rows", [2, 0])
def test_every_dtype_can_be_fed_and_returned(
    tmp_path: Path, element: int, dtype: type[np.generic], rows: int
) -> None:
    session = Session(write(tmp_path / "m.onnx", "Identity", element), Provider.CPU)
    array = np.arange(rows * 3).reshape(rows, 3).astype(dtype)
    result = session.run({"x": array}, "")[0]
    assert result.dtype == array.dtype
    np.testing.assert_array_equal(result, array)


def test_inputs_that_the_file_ignores_are_not_fed(tmp_path: Path) -> None:
    session = Session(write(tmp_path / "m.onnx", "Relu"), Provider.CPU)
    array = np.ones((1, 3), np.float32)
    assert len(session.run({"x": array, "unused": array}, "")) == 1


def test_failed_run_names_the_sample(tmp_path: Path) -> None:
    session = Session(write(tmp_path / "m.onnx", "Relu"), Provider.CPU)
    with pytest.raises(ExportFailure, match=r"at n=2 \(zeros values, seed 4\): .*x") as caught:
        session.run({"x": np.ones((2, 4), np.float32)}, "n=2 (zeros values, seed 4)")
    assert caught.value.reason is Reason.RUNTIME_FAILED


def test_file_that_is_not_onnx_is_a_runtime_failure(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(b"\x00")
    with pytest.raises(ExportFailure, match="cannot load the exported file") as caught:
        Session(path, Provider.CPU)
    assert caught.value.reason is Reason.RUNTIME_FAILED


def test_dtype_without_a_kernel_is_a_runtime_failure(tmp_path: Path) -> None:
    path = write(tmp_path / "m.onnx", "Sin", TensorProto.BFLOAT16)
    with pytest.raises(ExportFailure, match="cannot load the exported file") as caught:
        Session(path, Provider.CPU)
    assert "Export the model in float32" in caught.value.hint


def test_session_reports_the_provider_of_each_node(tmp_path: Path) -> None:
    session = Session(write(tmp_path / "m.onnx", "Relu"), Provider.CPU)
    assert [(node.op, node.provider) for node in session.assignment] == [
        ("Relu", "CPUExecutionProvider")
    ]


def test_missing_tensorrt_is_reported_before_loading(tmp_path: Path) -> None:
    """Where the package is not installed, as in the exporter's image."""
    if "TensorrtExecutionProvider" not in onnxruntime.get_available_providers():
        pytest.skip("needs onnxruntime-gpu")
    if not missing_libraries("TensorRT"):
        pytest.skip("TensorRT is installed")
    with pytest.raises(ExportFailure, match=r"libnvinfer\.so") as caught:
        Session(write(tmp_path / "m.onnx", "Relu"), Provider.TENSORRT)
    assert caught.value.reason is Reason.PROVIDER_UNAVAILABLE
    assert "tensorrt" in caught.value.hint
