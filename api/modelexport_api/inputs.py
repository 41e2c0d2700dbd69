"""What a model takes: tensors, and what a table of dtype and shape alone cannot say."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from modelexport_api.base import ApiModel
from modelexport_api.types import AnyJson, DimName, DimSize, Finite, Identifier


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
    """What forward gets in the place of an input."""

    TENSOR = "Tensor"
    SEQUENCE = "Sequence"
    OPTIONAL = "Optional"
    INT = "Int"
    FLOAT = "Float"
    BOOL = "Bool"
    CONSTANT = "Constant"


class Input(ApiModel):
    """One value that the model takes."""

    name: Identifier = Field(
        description="Name of the input in the ONNX graph. If the names of all inputs are those of "
        "forward's parameters, each goes to its parameter; otherwise inputs are passed in order. "
        "Dots reach into a nested parameter: `cache.0.key` is the entry `key` of the first element "
        "of the parameter `cache`.",
    )
    kind: InputKind = Field(
        default=InputKind.TENSOR,
        description="Tensor. Sequence: a list of `length` tensors of this shape, an input for "
        "each: `xs.0`, `xs.1`. Optional: a tensor that consumers may "
        "not leave out of the file, but forward's parameter is Optional. Int, Float, Bool: a "
        "Python number that becomes a 0-dim input. Constant: `value`, fixed in the file.",
    )
    dtype: DType = Field(
        default=DType.FLOAT32,
        description="Element type of a tensor; with model.exampleInputs it is the example's.",
    )
    shape: list[DimSize | DimName] = Field(
        default_factory=list,
        max_length=16,
        description="A number for a constant dim, a name from `dims` for a dynamic one; "
        "[] is a scalar, or the example's shape with model.exampleInputs.",
    )
    length: Annotated[int, Field(ge=1, le=64)] | None = Field(
        default=None, description="Number of tensors in a Sequence."
    )
    range: Annotated[list[Finite], Field(min_length=2, max_length=2)] | None = Field(
        default=None,
        description="Smallest and largest value that the input takes, both included: token ids, "
        "say. Absent: standard normal values, integers from 0 to 1, those of kind Int from 0 to 9; "
        "with model.exampleInputs as in the example.",
    )
    value: AnyJson = Field(
        default=None,
        description="The value of a Constant: a number, a string, true or false, a list or map of "
        "those; None where it is absent.",
    )


class Dim(ApiModel):
    """The sizes that a dynamic dim takes."""

    min: Annotated[int, Field(ge=0)] = Field(default=1, description="Smallest size.")
    max: Annotated[int, Field(ge=1, le=2**31 - 1)] = Field(description="Largest size.")
