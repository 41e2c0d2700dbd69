"""Provokes each message that decides something, so that a new wording fails here."""

from __future__ import annotations

import io
import logging
import pickle
from collections import OrderedDict
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from onnx import TensorProto, helper
from torch.export import Dim

from modelexport_exporter.core import foreign_messages as messages
from modelexport_exporter.core.out_of_memory import is_out_of_memory


class Opaque:
    """A class that neither torch.load nor pytree knows."""


class ReturnsOpaque(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> Opaque:
        made = Opaque()
        made.x = x  # type: ignore[attr-defined]
        return made


class FixesSize(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.reshape(3, 4) + 1


def test_failed_allocation_of_torch() -> None:
    with pytest.raises(RuntimeError) as caught:
        torch.empty(1 << 60)
    assert messages.ALLOCATION_FAILED in str(caught.value)
    assert is_out_of_memory(caught.value)
    assert is_out_of_memory(torch.OutOfMemoryError("CUDA"))
    assert is_out_of_memory(MemoryError())
    assert not is_out_of_memory(RuntimeError("shape"))


def load(saved: object) -> str:
    buffer = io.BytesIO()
    torch.save(saved, buffer)
    buffer.seek(0)
    with pytest.raises(pickle.UnpicklingError) as caught:
        torch.load(buffer, weights_only=True)
    return str(caught.value)


def test_global_that_torch_load_refuses() -> None:
    found = messages.REFUSED_GLOBAL.search(load(Opaque()))
    assert found is not None
    assert found.group(1) == f"{__name__}.Opaque"


def test_container_that_torch_load_does_not_fill() -> None:
    class Items(OrderedDict[str, int]):
        pass

    Items.__module__, Items.__qualname__ = __name__, "Items"
    globals()["Items"] = Items
    with torch.serialization.safe_globals([Items]):
        found = messages.WRONG_CONTAINER.search(load(Items(a=1)))
    assert found is not None
    assert found.group(1) == "SETITEM"


def test_pickle_protocol_that_torch_load_does_not_read() -> None:
    buffer = io.BytesIO()
    torch.save({"a": [1]}, buffer, pickle_protocol=5)
    buffer.seek(0)
    with pytest.raises(pickle.UnpicklingError) as caught:
        torch.load(buffer, weights_only=True)
    assert messages.UNKNOWN_OPCODE in str(caught.value)


def test_constraints_and_guards_of_torch_export(caplog: pytest.LogCaptureFixture) -> None:
    name = "torch.fx.experimental.symbolic_shapes"
    logger = logging.getLogger(name)
    propagates, logger.propagate = logger.propagate, True
    try:
        with caplog.at_level(logging.INFO, logger=name), pytest.raises(Exception) as caught:  # noqa: PT011
            torch.export.export(
                FixesSize(), (torch.zeros(3, 4),), dynamic_shapes=({0: Dim("n", max=9)},)
            )
    finally:
        logger.propagate = propagates
    assert any(sign in str(caught.value) for sign in messages.CONSTRAINTS_VIOLATED)
    guard, equality = messages.SIZE_GUARD
    assert any(guard in str(r.msg) and equality in str(r.args) for r in caplog.records)


def test_sizes_that_torch_export_finds_constant() -> None:
    dims = ({0: Dim("n", min=2, max=9)},)
    with pytest.raises(Exception, match=messages.CONSTRAINTS_VIOLATED[1]):
        torch.export.export(RunsOverRows(), (torch.zeros(3, 4),), dynamic_shapes=dims, strict=False)


class RunsOverRows(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows = [x[max(2 * k - 1, 0)] for k in range((x.shape[0] + 1) // 2)]
        return torch.stack(rows)


def test_words_of_the_torchscript_exporter(tmp_path: Path) -> None:
    with pytest.raises(torch.onnx.errors.SymbolicValueError) as caught:
        torch.onnx.export(
            Unfolds(),
            (torch.zeros(9),),
            tmp_path / "m.onnx",
            dynamo=False,
            dynamic_axes={"x": [0]},
            input_names=["x"],
        )
    text = " ".join(str(caught.value).split())
    assert messages.GRAPH_WORDS.sub("", text).endswith("input size not accessible.")


class Unfolds(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x / 2).unfold(0, 3, 1)


@pytest.mark.parametrize("strict", [False, True])
def test_decision_by_what_a_tensor_holds(strict: bool) -> None:
    with pytest.raises(Exception, match=messages.DECIDED_BY_DATA):
        torch.export.export(AsksForPositive(), (torch.zeros(3),), strict=strict)


class AsksForPositive(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + 1 if (x > 0).any().item() else x


def test_dim_that_torch_export_cannot_keep() -> None:
    with pytest.raises(Exception, match=messages.INVALID_RANGES):
        torch.export.export(
            torch.nn.ReLU(), (torch.zeros(2, 4),), dynamic_shapes=({0: Dim("n", min=0, max=1)},)
        )


def test_output_that_torch_export_does_not_flatten() -> None:
    with pytest.raises(RuntimeError) as caught:
        torch.export.export(ReturnsOpaque(), (torch.zeros(2),), strict=False)
    assert any(text in str(caught.value) for text in messages.OUTPUT_NOT_FLATTENED)


def test_operator_that_torch_onnx_does_not_translate() -> None:
    program = torch.export.export(Special(), (torch.rand(3),))
    with pytest.raises(Exception) as caught:  # noqa: PT011
        torch.onnx.export(program, dynamo=True, verbose=False)
    assert messages.NO_ONNX_FUNCTION in f"{caught.value} {caught.value.__cause__}"


class Special(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = torch.special.bessel_j0(x)
        return found


def test_surplus_output_names(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError) as caught:
        torch.onnx.export(
            torch.nn.ReLU(),
            (torch.zeros(2),),
            tmp_path / "m.onnx",
            dynamo=False,
            output_names=["y", "z"],
        )
    found = messages.SURPLUS_OUTPUT_NAMES.search(" ".join(str(caught.value).split()))
    assert found is not None
    assert found.group(1) == "1"


def model_of(op: str, element: int, domain: str = "") -> bytes:
    graph = helper.make_graph(
        [helper.make_node(op, ["x"], ["y"], domain=domain)],
        "g",
        [helper.make_tensor_value_info("x", element, [2])],
        [helper.make_tensor_value_info("y", element, [2])],
    )
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("custom", 1)]
    made: bytes = helper.make_model(graph, opset_imports=opsets, ir_version=10).SerializeToString()
    return made


def error_of_loading(model: bytes) -> str:
    with pytest.raises(Exception) as caught:  # noqa: PT011
        onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    return " ".join(str(caught.value).split())


def test_operator_that_onnxruntime_does_not_know() -> None:
    found = messages.UNKNOWN_OPERATOR.search(error_of_loading(model_of("Foo", 1, "custom")))
    assert found is not None
    assert found.groups() == ("custom", "Foo")


@pytest.mark.parametrize(
    ("op", "element"), [("Erf", TensorProto.BFLOAT16), ("Sigmoid", TensorProto.INT32)]
)
def test_kernel_that_onnxruntime_lacks(op: str, element: int) -> None:
    text = error_of_loading(model_of(op, element))
    assert any(sign in text for sign in messages.NO_KERNEL_TO_LOAD)


def test_failed_allocation_of_onnxruntime() -> None:
    graph = helper.make_graph(
        [helper.make_node("Expand", ["x", "shape"], ["y"])],
        "g",
        [
            helper.make_tensor_value_info("x", TensorProto.FLOAT, [1]),
            helper.make_tensor_value_info("shape", TensorProto.INT64, [1]),
        ],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n"])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)
    onnx.checker.check_model(model)
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    feed = {"x": np.zeros(1, np.float32), "shape": np.array([1 << 50])}
    with pytest.raises(Exception) as caught:  # noqa: PT011
        session.run(None, feed)
    text = str(caught.value).lower()
    assert any(sign in text for sign in messages.ONNXRUNTIME_OUT_OF_MEMORY)
