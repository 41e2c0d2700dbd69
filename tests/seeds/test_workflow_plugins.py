"""Workflows around operators that torch.onnx does not know: plugins, diagnosis, fall-through."""

from __future__ import annotations

from pathlib import Path

import onnx
import onnxruntime
import onnxruntime_extensions
import pytest
import torch

from modelexport_api.reasons import Reason
from modelexport_api.status import Support
from seeds.case import Case, refused, tensor
from seeds.code.plugins_of_users import foo_unregistered, neg_pos
from seeds.harness import Bench, Exported, each

ROWS = (tensor("x", "batch", 6),)
FEW = {"batch": (1, 40)}
SQUARES = (tensor("x", 5, 5),)
PAIR = (tensor("input1", "batch", 6), tensor("input2", "batch", 6))
TORCH_SCRIPT = {"exporter": "TorchScript"}

assert foo_unregistered, "eager needs the operators of custom_ops as well"
assert neg_pos


def nodes_of(exported: Exported) -> set[str]:
    """Return the operators of the file, `domain::Op` where it is not ONNX's own."""
    graph = onnx.load(str(exported.model_path)).graph
    return {
        f"{node.domain}::{node.op_type}" if node.domain else node.op_type for node in graph.node
    }


def opsets_of(exported: Exported) -> dict[str, int]:
    opsets = onnx.load(str(exported.model_path)).opset_import
    return {entry.domain: entry.version for entry in opsets}


def activation(rows: str, name: str, function: str, *plugins: str, **more: object) -> Case:
    """Return a case with an activation and plugins of code/plugins_of_users."""
    names = [f"plugins_of_users.{plugin}" for plugin in plugins]
    kwargs: dict[str, object] = {"name": function, **more.pop("kwargs", {})}  # type: ignore[dict-item]
    export = {"plugins": names, **more.pop("export", {})}  # type: ignore[dict-item]
    return Case(
        rows,
        name,
        "custom_models:activation",
        ROWS,
        FEW,
        kwargs,
        export=export,
        **more,  # type: ignore[arg-type]
    )


def foo(rows: str, name: str, *plugins: str, **more: object) -> Case:
    """Return a case with the documentation's custom operator."""
    names = [f"plugins_of_users.{plugin}" for plugin in plugins]
    export = {"plugins": names, **more.pop("export", {})}  # type: ignore[dict-item]
    return Case(rows, name, "custom_models:foo", PAIR, FEW, export=export, **more)  # type: ignore[arg-type]


CASES = (
    activation("C14 E2", "symbolic_of_asinh", "asinh", "asinh", export=TORCH_SCRIPT),
    activation("C14 E2", "symbolic_of_asinh_any_route", "asinh", "asinh", nightly=True),
    activation(
        "E2 E16",
        "symbolic_withdrawn",
        "asinh",
        "asinh_withdrawn",
        export=TORCH_SCRIPT,
        or_refused=refused(Reason.UNSUPPORTED_OPERATOR, words=("aten::asinh",)),
    ),
    activation(
        "C15 E10", "elu_of_2018", "elu", "elu_of_2018", kwargs={"alpha": 0.7}, export=TORCH_SCRIPT
    ),
    activation("C15 E3", "elu_of_2025", "elu", "elu_of_2025", kwargs={"alpha": 0.7}),
    activation("C19", "selu_by_onnxscript", "selu", "selu_by_onnxscript", export={"opset": 15}),
    activation("E8", "attribute_f", "leaky_relu", "every_attribute", export=TORCH_SCRIPT),
    activation(
        "E8", "attribute_i", "permute", "every_attribute", kwargs={"dims": [1, 0]}, edges=()
    ),
    activation("E8", "attribute_s", "gelu", "every_attribute", kwargs={"approximate": "tanh"}),
    Case("C16 E8", "static_symbolic", "custom_models:relu_function", ROWS, FEW),
    Case(
        "C16 E8",
        "static_symbolic_of_two_outputs",
        "custom_models:scaled_clip",
        ROWS,
        FEW,
        nightly=True,
    ),
    Case("C16 E8", "static_symbolic_with_outputs", "custom_models:largest", ROWS, FEW, edges=()),
    Case(
        "C25 E8",
        "aten_node",
        "custom_models:aten_relu",
        ROWS,
        FEW,
        export=TORCH_SCRIPT,
        or_refused=refused(
            Reason.UNSUPPORTED_OPERATOR, Reason.CONVERSION_FAILED, words=("aten::", "custom_models")
        ),
    ),
    Case(
        "C16 D17",
        "wrong_static_symbolic",
        "custom_models:wrong_symbolic",
        ROWS,
        FEW,
        export=TORCH_SCRIPT,
        expected=refused(Reason.VERIFICATION_FAILED),
    ),
    Case(
        "C17",
        "inlined_function",
        "custom_models:log_exp",
        (tensor("x", 4, low=1, high=3),),
        edges=(),
    ),
    Case(
        "C18",
        "python_op",
        "custom_models:log_exp",
        (tensor("x", "batch", 6, low=1, high=3),),
        FEW,
        export={**TORCH_SCRIPT, "plugins": ["plugins_of_users.python_op"]},
        edges=(),
    ),
    Case(
        "E9 E10",
        "types_sizes_and_scalars",
        "custom_models:fused_multiply_add",
        tuple(tensor(name, 4, 6) for name in "xyz"),
        export={**TORCH_SCRIPT, "plugins": ["plugins_of_users.sizes_and_types"]},
    ),
    foo("C14 E10", "custom_operator_by_composition", "foo_operator"),
    foo("C20 C19", "custom_operator_as_function", "foo_as_function"),
    foo(
        "C22 E16",
        "custom_operator_unregistered",
        "foo_unregistered",
        expected=refused(Reason.UNSUPPORTED_OPERATOR, words=("custom_ops", "foo_forward")),
    ),
    foo(
        "C23 C20",
        "custom_operator_without_runtime",
        "foo_without_runtime",
        export={**TORCH_SCRIPT, "customOpsets": {"custom_domain": 2}},
        expected=refused(Reason.RUNTIME_FAILED, words=("custom_domain", "Foo")),
    ),
)


@pytest.mark.parametrize("case", each(CASES))
def test_case(case: Case, bench: Bench) -> None:
    bench.check(case)


def test_a_runtime_library_brings_an_operator(bench: Bench) -> None:
    library = onnxruntime_extensions.get_library_path()
    plugins = ["plugins_of_users.neg_pos"]
    case = Case(
        "C20 C25",
        "runtime_library",
        "custom_models:parts",
        ROWS,
        FEW,
        export={**TORCH_SCRIPT, "plugins": plugins, "runtimeLibraries": [f"file://{library}"]},
    )

    def with_library(path: Path) -> onnxruntime.InferenceSession:
        options = onnxruntime.SessionOptions()
        options.register_custom_ops_library(library)
        return onnxruntime.InferenceSession(str(path), options, ["CPUExecutionProvider"])

    assert "ai.onnx.contrib::NegPos" in nodes_of(bench.check(case, with_library))


def test_an_onnxscript_function_is_in_the_file_at_the_version_asked_for(bench: Bench) -> None:
    case = activation(
        "C19 C21",
        "selu_opset_2",
        "selu",
        "selu_by_onnxscript",
        export={**TORCH_SCRIPT, "opset": 15, "customOpsets": {"onnx-script": 2}},
    )
    exported = bench.check(case)
    assert "onnx-script::Selu" in nodes_of(exported)
    assert opsets_of(exported)["onnx-script"] == 2


def test_a_users_symbolic_wins_over_the_librarys(bench: Bench) -> None:
    exported = bench.check(
        activation("C14", "own_elu", "elu", "elu_of_2018", kwargs={"alpha": 0.7})
    )
    assert "Elu" in nodes_of(exported)


def test_all_operators_without_a_translation_are_named_at_once(bench: Bench) -> None:
    case = Case(
        "C22 C24 C27 E4 E16",
        "many_unsupported",
        "custom_models:many_unsupported",
        SQUARES,
        expected=refused(
            Reason.UNSUPPORTED_OPERATOR, words=("linalg_eigh", "ldl_factor", "custom_models.py")
        ),
    )
    failure = bench.check(case).result.failure
    assert failure is not None
    ops = {op.name.split(".")[0]: op for op in failure.ops}
    assert ops["aten::linalg_eigh"].count == 2
    (inner,) = [op for name, op in ops.items() if name.startswith("aten::linalg_ldl_factor")]
    assert inner.module == "inner"
    assert all(op.source.partition(":")[0].endswith("custom_models.py") for op in ops.values())
    assert all(op.hint and op.support in Support for op in ops.values())


def test_an_operator_that_newer_opsets_have_is_said_to_be_standardised(bench: Bench) -> None:
    case = activation(
        "C27 E16",
        "asinh_too_old",
        "asinh",
        export={**TORCH_SCRIPT, "opset": 8},
        expected=refused(Reason.UNSUPPORTED_OPERATOR, words=("aten::asinh", "opset")),
    )
    failure = bench.check(case).result.failure
    assert failure is not None
    assert [op.support for op in failure.ops] == [Support.STANDARDISED]


def test_operators_fall_through_to_the_consumers_runtime(bench: Bench) -> None:
    """The tests' session has no such operator: here the file is looked at, not run."""
    case = foo(
        "C25 E11",
        "fall_through",
        "foo_unregistered",
        export={"unsupportedOps": "FallThrough"},
    )

    class RunByTorch:
        def __init__(self, path: object) -> None:
            self._model = onnx.load(str(path))

        def get_inputs(self) -> list[onnx.ValueInfoProto]:
            return list(self._model.graph.input)

        def get_outputs(self) -> list[onnx.ValueInfoProto]:
            return list(self._model.graph.output)

        def run(self, _outputs: None, feed: dict[str, object]) -> list[object]:
            first, second = (torch.as_tensor(feed[entry.name]) for entry in self.get_inputs())
            return [torch.ops.custom_ops.foo_forward(first, second, 0.5, 3).numpy()]

    exported = bench.check(case, RunByTorch)
    assert any("foo_forward" in node for node in nodes_of(exported))
