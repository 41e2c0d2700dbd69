"""How to verify that the artifact computes the same as the model."""

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
    """Maximum difference between ONNX and eager PyTorch, for floating-point outputs."""

    rtol: Annotated[Finite, Field(ge=0, le=1)] = Field(
        default=0, description="Maximum error relative to the largest value of the output."
    )
    atol: Annotated[Finite, Field(ge=0)] = Field(default=0, description="Maximum absolute error.")


class Verification(ApiModel):
    """How to verify that the artifact computes the same as the model."""

    provider: Provider | None = Field(
        default=None,
        description="Execution provider that must run the model; the export fails with "
        "ProviderUnavailable if onnxruntime cannot use it. If not set: CUDA if there is a GPU, "
        "otherwise CPU.",
    )
    tolerance: Tolerance | None = Field(
        default=None,
        description="If not set, the limits are calibrated: the model also runs in float64, and "
        "ONNX may differ by a small multiple of the model's own rounding error.",
    )
    golden_inputs: Uri | None = Field(
        default=None,
        description="File of inputs (.npz or .safetensors) to verify the artifact on, in "
        "addition to the generated samples: an array for each input, by name. Arrays named after "
        "outputs are the expected results, for eager PyTorch and for the artifact. Prefixes "
        "distinguish several samples: `0/image`, `1/image`.",
    )
    sampler: Callable | None = Field(
        default=None,
        description="`module:callable` that generates the samples, for inputs that cannot be "
        "random. It is called as sampler(dims, seed) with the size of each dim, and returns a "
        "tensor or array for each input, by name.",
    )
    allow_incomplete: bool = Field(
        default=False,
        description="Publish the artifact although no sample reached a part of the model: an "
        "output that is empty in all samples, or one side of a branch on values in a trace. The "
        "status lists these parts.",
    )
    benchmark: bool = Field(
        default=True,
        description="Measure the latency of eager PyTorch, torch.compile and onnxruntime after "
        "the verification.",
    )
    benchmark_seconds: Annotated[int, Field(ge=1, le=3600)] | None = Field(
        default=None,
        description="How long the latency may be measured. If not set: a tenth of the export's "
        "time, 2 s at least and 60 s at most. torch.compile is measured only if 10 s are left.",
    )


class ArtifactToVerify(ApiModel):
    """An existing ONNX file, for mode Verify."""

    uri: Uri = Field(
        description="URI of the ONNX file. Its external data must be in the same directory."
    )
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")] | None = Field(
        default=None, description="Expected SHA-256 digest of the ONNX file."
    )
