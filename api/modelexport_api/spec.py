"""The spec of a ModelExport: what is exported, from where, to where, and how it is proved.

Every docstring and description here is read by users: it becomes the CRD's documentation
(`kubectl explain modelexport.spec`). Rules that cross fields live in `rules`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated, Any

from pydantic import AfterValidator, Field, StringConstraints

from modelexport_api.base import ApiModel

Uri = Annotated[
    str,
    StringConstraints(pattern=r"^(s3://[^/]+/.*|file:///.*)$", max_length=2048),
]
Identifier = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_.]*$", min_length=1, max_length=128)
]
DimName = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", min_length=1, max_length=63)
]
DimSize = Annotated[int, Field(ge=0, le=2**31 - 1)]
MAX_DEPTH = 64
Finite = Annotated[float, Field(allow_inf_nan=False)]


def _plain(value: dict[str, Any]) -> dict[str, Any]:
    """Refuse what YAML can say and JSON cannot: dates, binary data, .inf, cycles.

    The API server never sends it; a file read by the command line may hold it. Depth is limited
    for both: a value that the serializer gives up on would never get an answer.
    """
    if _deeper(value, MAX_DEPTH):
        raise ValueError(f"expected at most {MAX_DEPTH} levels of nesting")
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ValueError(f"expected values that JSON can hold: {error}") from None
    return value


def _deeper(value: object, limit: int) -> bool:
    level: list[object] = [value]
    for _ in range(limit):
        level = [child for entry in level for child in _children(entry)]
        if not level:
            return False
    return True


def _children(value: object) -> Iterable[object]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


FreeForm = Annotated[dict[str, Any], AfterValidator(_plain)]


class Format(StrEnum):
    """How the checkpoint is stored."""

    AUTO = "Auto"
    STATE_DICT = "StateDict"
    SAFETENSORS = "Safetensors"
    TORCH_SCRIPT = "TorchScript"
    EXPORTED_PROGRAM = "ExportedProgram"


class Exporter(StrEnum):
    """The route through torch.onnx."""

    AUTO = "Auto"
    DYNAMO = "Dynamo"
    TORCH_SCRIPT = "TorchScript"


class Provider(StrEnum):
    """An onnxruntime execution provider."""

    CUDA = "CUDA"
    CPU = "CPU"


class Overwrite(StrEnum):
    """What happens to an artifact that is already at the destination."""

    IF_CHANGED = "IfChanged"
    ALWAYS = "Always"
    NEVER = "Never"


class AddressingStyle(StrEnum):
    """Where an S3 request names its bucket."""

    AUTO = "Auto"
    PATH = "Path"
    VIRTUAL = "Virtual"


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


class Source(ApiModel):
    """The checkpoint that is exported."""

    uri: Uri = Field(
        description="The checkpoint: an object, or a directory of safetensors shards with their "
        "index. s3://bucket/key in a cluster; file:///path with `modelexport run`.",
    )
    format: Format = Field(
        default=Format.AUTO,
        description="How the checkpoint is stored; Auto looks into the file.",
    )
    sha256: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")] | None = Field(
        default=None,
        description="Digest that the checkpoint must have, in lower-case hex. Objects only.",
    )
    version_id: Annotated[str, StringConstraints(min_length=1, max_length=1024)] | None = Field(
        default=None,
        description="Version of the S3 object, in a bucket with versioning. Objects only.",
    )
    state_dict_key: Annotated[str, StringConstraints(min_length=1, max_length=256)] | None = Field(
        default=None,
        description="Where the state_dict lies inside a checkpoint that holds more, such as "
        "`model` or `state.ema`. Absent: the checkpoint itself, or the one usual key it has.",
    )
    allow_pickle: bool = Field(
        default=False,
        description="Allow the checkpoint to run code while it is loaded (pickle). Only for "
        "checkpoints that you trust as you trust your own code.",
    )


class Storage(ApiModel):
    """How source, code and destination are reached."""

    endpoint: Annotated[str, StringConstraints(pattern=r"^https?://", max_length=2048)] | None = (
        Field(default=None, description="URL of an S3-compatible server; absent for AWS.")
    )
    region: Annotated[str, StringConstraints(min_length=1, max_length=64)] | None = Field(
        default=None, description="Region of the buckets."
    )
    addressing_style: AddressingStyle = Field(
        default=AddressingStyle.AUTO,
        description="Path for servers without a DNS name per bucket; Auto takes Path where an "
        "endpoint is given.",
    )
    secret_name: Annotated[str, StringConstraints(min_length=1, max_length=253)] | None = Field(
        default=None,
        description="Secret in the same namespace with AWS_ACCESS_KEY_ID and "
        "AWS_SECRET_ACCESS_KEY (and AWS_SESSION_TOKEN). Absent: the identity of the pod's "
        "service account.",
    )


class Code(ApiModel):
    """Python code that the model is built with."""

    uri: Uri = Field(
        description="A zip file, or a directory, whose root is put on the import path."
    )


class Model(ApiModel):
    """The module that the checkpoint's weights belong to."""

    factory: Annotated[
        str,
        StringConstraints(
            pattern=r"^[A-Za-z_][A-Za-z0-9_.]*:[A-Za-z_][A-Za-z0-9_.]*$", max_length=256
        ),
    ] = Field(description="`package.module:callable`; called with kwargs it returns the module.")
    kwargs: FreeForm = Field(default_factory=dict, description="Keyword arguments of the factory.")
    code: Code | None = Field(
        default=None, description="Where the factory's code is, if it is not in the image."
    )


class Input(ApiModel):
    """One tensor that the model takes, in the order of its forward method."""

    name: Identifier = Field(description="Name of the input in the ONNX graph.")
    dtype: DType = Field(default=DType.FLOAT32, description="Element type.")
    shape: list[DimSize | DimName] = Field(
        default_factory=list,
        max_length=16,
        description="A number for a constant dim, a name from `dims` for a dynamic one; "
        "[] is a scalar.",
    )
    range: Annotated[list[Finite], Field(min_length=2, max_length=2)] | None = Field(
        default=None,
        description="Smallest and largest value that the input takes, both included: token ids, "
        "say. Absent: standard normal values, integers from 0 to 1.",
    )


class Dim(ApiModel):
    """The sizes that a dynamic dim takes."""

    min: Annotated[int, Field(ge=0)] = Field(default=1, description="Smallest size.")
    max: Annotated[int, Field(ge=1, le=2**31 - 1)] = Field(description="Largest size.")


class Export(ApiModel):
    """How the model is turned into ONNX."""

    exporter: Exporter = Field(
        default=Exporter.AUTO,
        description="Dynamo captures with torch.export, TorchScript by tracing. Auto takes "
        "TorchScript for TorchScript archives and Dynamo for everything else.",
    )
    opset: Annotated[int, Field(ge=9, le=25)] = Field(
        default=20,
        description="Version of the ONNX operator set. Dynamo writes 18 and newer, TorchScript "
        "9 to 20.",
    )
    optimize: bool = Field(
        default=True, description="Fold constants and simplify the graph (Dynamo)."
    )


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
        description="Absent: a limit for each dtype, relative to the largest value of the output.",
    )


class Destination(ApiModel):
    """Where the verified artifact is published."""

    uri: Uri = Field(
        description="Directory for model.onnx, its external data, report.json and manifest.json."
    )
    overwrite: Overwrite = Field(
        default=Overwrite.IF_CHANGED,
        description="IfChanged keeps an artifact of the same source and spec and replaces any "
        "other; Always exports anew; Never fails where another artifact lies.",
    )


class ModelExportSpec(ApiModel):
    """What is exported, from where, to where, and how it is proved. Immutable."""

    source: Source
    storage: Storage = Field(default_factory=Storage)
    model: Model | None = Field(
        default=None,
        description="Needed by StateDict and Safetensors; the other formats carry the graph.",
    )
    inputs: list[Input] = Field(
        min_length=1, max_length=64, description="The tensors that the model takes, in order."
    )
    dims: dict[DimName, Dim] = Field(
        default_factory=dict, max_length=64, description="Dynamic dims by name."
    )
    outputs: list[Identifier] = Field(
        default_factory=list,
        max_length=256,
        description="Names of the outputs, in order. Absent: the exporter's names.",
    )
    export: Export = Field(default_factory=Export)
    verification: Verification = Field(default_factory=Verification)
    destination: Destination
    backoff_limit: Annotated[int, Field(ge=0, le=100)] = Field(
        default=3,
        description="How often a pod is started again after a failure that is nobody's mistake: "
        "a killed pod, an unreachable store. User errors are never retried.",
    )
    active_deadline_seconds: Annotated[int, Field(ge=1, le=2**31 - 1)] = Field(
        default=3600, description="Seconds after which the export is stopped, retries included."
    )
    service_account_name: Annotated[str, StringConstraints(max_length=253)] | None = Field(
        default=None,
        description="Service account of the pod, for an identity in S3. Its token is not mounted.",
    )
    pod_template: FreeForm | None = Field(
        default=None,
        description="Partial PodTemplateSpec, merged over the operator's defaults: image, "
        "resources, nodeSelector, tolerations, runtimeClassName, … The container is `exporter`.",
    )
