"""The inputs of a model: tensors, and values that dtype and shape cannot describe."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from modelexport_api.base import ApiModel
from modelexport_api.types import AnyJson, Finite, Identifier, Shape


class DType(StrEnum):
    """Element types that an input may have."""

    FLOAT32 = "float32"
    FLOAT64 = "float64"
    FLOAT16 = "float16"
    BFLOAT16 = "bfloat16"
    INT64 = "int64"
    INT32 = "int32"
    INT16 = "int16"
    INT8 = "int8"
    UINT8 = "uint8"
    BOOL = "bool"
    COMPLEX64 = "complex64"
    COMPLEX128 = "complex128"
    STRING = "string"


class InputKind(StrEnum):
    """What is passed to forward for an input."""

    TENSOR = "Tensor"
    SEQUENCE = "Sequence"
    OPTIONAL = "Optional"
    ATTENTION_MASK = "AttentionMask"
    PADDING_MASK = "PaddingMask"
    INT = "Int"
    FLOAT = "Float"
    BOOL = "Bool"
    CONSTANT = "Constant"


class Input(ApiModel):
    """One input of the model."""

    name: Identifier = Field(
        description="Name of the input in the ONNX graph. If all inputs are named after "
        "parameters of forward, each is passed to its parameter; otherwise inputs are passed in "
        "order. Dots address a nested parameter: `cache.0.key` is the entry `key` of the first "
        "element of the parameter `cache`.",
    )
    kind: InputKind = Field(
        default=InputKind.TENSOR,
        description="Tensor: one tensor. Sequence: a list of `length` tensors of this shape, "
        "each of them an input: `xs.0`, `xs.1`. Optional: a tensor for a parameter of forward "
        "that is Optional; consumers of the file must always provide it. AttentionMask: a tensor "
        "of which each row (its last dim) has a true element, or a 1. PaddingMask: a tensor of "
        "which each row has a false element, or a 0. Int, Float, Bool: a "
        "Python number that becomes a 0-dim input. Constant: `value`, fixed in the file.",
    )
    dtype: DType = Field(
        default=DType.FLOAT32,
        description="Element type of a tensor. With model.exampleInputs, the example's element "
        "type.",
    )
    shape: Shape = Field(
        default_factory=list,
        description="Shape of a tensor: a number for each constant dim, a name from `dims` for "
        "each dynamic dim, or an expression: `n - 1`, `2 * n`, `past + n`. [] is a scalar or, with "
        "model.exampleInputs, the example's shape.",
    )
    length: Annotated[int, Field(ge=1, le=64)] | None = Field(
        default=None, description="Number of tensors in a Sequence."
    )
    range: Annotated[list[Finite], Field(min_length=2, max_length=2)] | None = Field(
        default=None,
        description="Smallest and largest value of the input, both inclusive, for example of "
        "token ids. If not set: values of the standard normal distribution, integers from 0 to "
        "1, integers from 0 to 9 for kind Int; with model.exampleInputs, the range of the "
        "example.",
    )
    value: AnyJson = Field(
        default=None,
        description="Value of a Constant: a number, a string, true or false, or a list or map of "
        "these. If not set: None.",
    )


class Dim(ApiModel):
    """The sizes of a dynamic dim."""

    min: Annotated[int, Field(ge=0)] = Field(default=1, description="Smallest size.")
    max: Annotated[int, Field(ge=1, le=2**31 - 1)] = Field(description="Largest size.")
