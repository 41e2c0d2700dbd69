"""How a model is turned into ONNX."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field, StringConstraints

from modelexport_api.base import ApiModel
from modelexport_api.types import Identifier, ModuleName, Uri


class Exporter(StrEnum):
    """The route through torch.onnx."""

    AUTO = "Auto"
    DYNAMO = "Dynamo"
    TORCH_SCRIPT = "TorchScript"


class UnsupportedOps(StrEnum):
    """What happens to operators that no exporter translates."""

    FAIL = "Fail"
    FALL_THROUGH = "FallThrough"


class Weights(StrEnum):
    """Where the artifact has its weights."""

    EMBEDDED = "Embedded"
    AS_INPUTS = "AsInputs"
    OMITTED = "Omitted"


class Precision(StrEnum):
    """The element types that the artifact computes in."""

    NATIVE = "Native"
    FLOAT16 = "Float16"
    BFLOAT16 = "BFloat16"
    DYNAMIC_INT8 = "DynamicInt8"
    STATIC_INT8 = "StaticInt8"


class Rewrites(ApiModel):
    """The decompositions that are applied before conversion."""

    disabled: list[Annotated[str, StringConstraints(min_length=1, max_length=128)]] = Field(
        default_factory=list,
        max_length=256,
        description="ATen ops that are left to torch.onnx, such as aten::elu; `*` disables all.",
    )


class Export(ApiModel):
    """How the model is turned into ONNX."""

    exporter: Exporter = Field(
        default=Exporter.AUTO,
        description="Auto tries torch.export (non-strict, strict, unoptimized), then TorchScript "
        "(scripted, traced), and publishes the first file that verifies. Dynamo and TorchScript "
        "stay on their route.",
    )
    opset: Annotated[int, Field(ge=7, le=25)] = Field(
        default=20,
        description="Version of the ONNX operator set. Dynamo writes 18 and newer, TorchScript 7 "
        "to 20.",
    )
    custom_opsets: dict[
        Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.-]+$", max_length=128)],
        Annotated[int, Field(ge=1, le=2**31 - 1)],
    ] = Field(
        default_factory=dict,
        max_length=32,
        description="Version of each custom operator domain in the file; 1 for those not listed.",
    )
    optimize: bool = Field(
        default=True, description="Fold constants and simplify the graph (Dynamo)."
    )
    precision: Precision = Field(
        default=Precision.NATIVE,
        description="Native: as the model computes. Float16 and BFloat16 compute in that type and "
        "keep the declared types of inputs and outputs. DynamicInt8 quantizes weights, and "
        "activations as they come; StaticInt8 activations by ranges met on calibrationInputs.",
    )
    calibration_inputs: Uri | None = Field(
        default=None,
        description="For precision StaticInt8: a file of inputs (.npz or .safetensors), in the "
        "form of verification.goldenInputs.",
    )
    unsupported_ops: UnsupportedOps = Field(
        default=UnsupportedOps.FAIL,
        description="Fail names all operators without a translation. FallThrough writes them as "
        "nodes of a custom domain that the consumer's runtime must bring, and verifies the file "
        "with these nodes run by PyTorch.",
    )
    plugins: list[ModuleName] = Field(
        default_factory=list,
        max_length=32,
        description="Python modules (in model.code, or in the image) imported before export and "
        "before verification. They may register operators and symbolic functions, and may define "
        "custom_translation_table, custom_opsets, decompositions, onnx_functions and "
        "configure_session(options).",
    )
    runtime_libraries: list[Uri] = Field(
        default_factory=list,
        max_length=32,
        description="Shared libraries of onnxruntime custom operators that verification loads: "
        "objects in a store, or file:/// paths in the image.",
    )
    rewrites: Rewrites = Field(default_factory=Rewrites)
    weights: Weights = Field(
        default=Weights.EMBEDDED,
        description="Embedded writes the weights into the file. AsInputs also lists them as "
        "inputs, so that a consumer may override them. Omitted writes the graph alone: the weights "
        "are inputs without a value.",
    )
    parameter_names: list[Identifier] = Field(
        default_factory=list,
        max_length=65536,
        description="Names for the initializers, in the order of the module's parameters and "
        "buffers; may be shorter than these. Absent: the module's own names.",
    )
