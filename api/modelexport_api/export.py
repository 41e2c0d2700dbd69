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
    """What to do with operators that no exporter translates."""

    FAIL = "Fail"
    FALL_THROUGH = "FallThrough"


class Weights(StrEnum):
    """Where the artifact stores its weights."""

    EMBEDDED = "Embedded"
    IN_CHECKPOINT = "InCheckpoint"
    AS_INPUTS = "AsInputs"
    OMITTED = "Omitted"

    @property
    def are_inputs(self) -> bool:
        """Return whether consumers see the weights as inputs of the file."""
        return self in {Weights.AS_INPUTS, Weights.OMITTED}


class Precision(StrEnum):
    """The element types that the artifact computes in."""

    NATIVE = "Native"
    FLOAT16 = "Float16"
    BFLOAT16 = "BFloat16"
    DYNAMIC_INT8 = "DynamicInt8"
    STATIC_INT8 = "StaticInt8"


class Rewrites(ApiModel):
    """The decompositions applied before conversion."""

    disabled: list[Annotated[str, StringConstraints(min_length=1, max_length=128)]] = Field(
        default_factory=list,
        max_length=256,
        description="ATen operators that are not decomposed, such as aten::elu; torch.onnx "
        "translates them instead. `*` disables all decompositions.",
    )


class Export(ApiModel):
    """How the model is turned into ONNX."""

    exporter: Exporter = Field(
        default=Exporter.AUTO,
        description="Auto tries torch.export (non-strict, strict, unoptimized), then TorchScript "
        "(scripted, traced), and publishes the first file that passes verification. Dynamo tries "
        "torch.export only, TorchScript only TorchScript.",
    )
    opset: Annotated[int, Field(ge=7, le=25)] = Field(
        default=20,
        description="Version of the ONNX operator set. Dynamo supports 18 and newer, TorchScript "
        "7 to 20.",
    )
    custom_opsets: dict[
        Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.-]+$", max_length=128)],
        Annotated[int, Field(ge=1, le=2**31 - 1)],
    ] = Field(
        default_factory=dict,
        max_length=32,
        description="Version of each custom operator domain in the file. A domain that is not "
        "listed has version 1.",
    )
    optimize: bool = Field(
        default=True, description="Fold constants and simplify the graph. Applies to Dynamo only."
    )
    precision: Precision = Field(
        default=Precision.NATIVE,
        description="Element types that the artifact computes in. Native: those of the PyTorch "
        "model. Float16 and BFloat16: that type; inputs and outputs keep their declared types. "
        "DynamicInt8: quantize the weights, and the activations at run time. StaticInt8: "
        "quantize the weights, and the activations with ranges measured on calibrationInputs.",
    )
    calibration_inputs: Uri | None = Field(
        default=None,
        description="File of calibration inputs (.npz or .safetensors) for precision StaticInt8, "
        "in the same format as verification.goldenInputs.",
    )
    unsupported_ops: UnsupportedOps = Field(
        default=UnsupportedOps.FAIL,
        description="What to do with operators that have no ONNX translation. Fail: the export "
        "fails and lists all of them. FallThrough: they become nodes of a custom domain that the "
        "consumer's runtime must implement; verification runs these nodes in PyTorch.",
    )
    plugins: list[ModuleName] = Field(
        default_factory=list,
        max_length=32,
        description="Python modules (in model.code or in the image) to import before export and "
        "before verification. They may register operators and symbolic functions, and may define "
        "custom_translation_table, custom_opsets, decompositions, onnx_functions and "
        "configure_session(options).",
    )
    runtime_libraries: list[Uri] = Field(
        default_factory=list,
        max_length=32,
        description="Shared libraries of onnxruntime custom operators to load for verification: "
        "URIs of objects in a store, or file:/// paths in the image.",
    )
    rewrites: Rewrites = Field(default_factory=Rewrites)
    weights: Weights = Field(
        default=Weights.EMBEDDED,
        description="Where the weights are stored. Embedded: in the file, or next to it in one of "
        "external data. InCheckpoint: in the checkpoint, which is published as it is next to the "
        "file, as its external data; in S3 the server copies it. Weights that the export changes "
        "are stored as for Embedded. AsInputs: in the file, and also listed as inputs so that a "
        "consumer can override them. Omitted: nowhere; the weights are inputs without a value.",
    )
    parameter_names: list[Identifier] = Field(
        default_factory=list,
        max_length=65536,
        description="Names of the initializers, in the order of the module's parameters and "
        "buffers. The list may be shorter than these. If not set, the module's own names are "
        "used.",
    )
