"""How it is proved that the artifact computes what the model computes."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from modelexport_api.base import ApiModel
from modelexport_api.types import Callable, Finite, Uri


class Mode(StrEnum):
    """What a ModelExport does."""

    EXPORT = "Export"
    VERIFY = "Verify"


class Provider(StrEnum):
    """An onnxruntime execution provider."""

    CUDA = "CUDA"
    TENSORRT = "TensorRT"
    CPU = "CPU"


class Tolerance(ApiModel):
    """How far ONNX may be from eager PyTorch, for floating-point outputs."""

    rtol: Annotated[Finite, Field(ge=0, le=1)] = Field(
        default=0, description="Allowed error relative to the largest value of the output."
    )
    atol: Annotated[Finite, Field(ge=0)] = Field(default=0, description="Allowed absolute error.")


class Verification(ApiModel):
    """How it is proved that the artifact computes what the model computes."""

    provider: Provider | None = Field(
        default=None,
        description="Execution provider that must run the model; it fails as ProviderUnavailable "
        "where onnxruntime cannot use it. Absent: CUDA where there is a GPU, otherwise CPU.",
    )
    tolerance: Tolerance | None = Field(
        default=None,
        description="Absent: calibrated. The model is run in float64 too; ONNX may err a small "
        "multiple of what the model errs by itself in its own precision.",
    )
    golden_inputs: Uri | None = Field(
        default=None,
        description="A file of inputs (.npz or .safetensors) that the artifact is verified on "
        "besides the drawn samples, an array for each input by its name. Arrays named after "
        "outputs are what both eager PyTorch and the artifact have to return. Several samples are "
        "told apart by a prefix: `0/image`, `1/image`.",
    )
    sampler: Callable | None = Field(
        default=None,
        description="module:callable that draws the samples, for inputs that cannot be random: it "
        "is called as sampler(dims, seed) with the size of each dim, and returns a tensor or array "
        "for each input by its name.",
    )
    benchmark: bool = Field(
        default=True,
        description="Measure the latency of eager PyTorch, torch.compile and onnxruntime after the "
        "verdict.",
    )


class ArtifactToVerify(ApiModel):
    """An ONNX file that exists, for mode Verify."""

    uri: Uri = Field(description="The ONNX file; its external data lies beside it.")
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")] | None = Field(
        default=None, description="Digest that the ONNX file must have."
    )
