"""The source of a model: the checkpoint, its storage, and the code that builds it."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field, StringConstraints

from modelexport_api.base import ApiModel
from modelexport_api.isolation import Network
from modelexport_api.types import Callable, FreeForm, Identifier, Uri, is_glob


class Format(StrEnum):
    """Format of the checkpoint."""

    AUTO = "Auto"
    STATE_DICT = "StateDict"
    SAFETENSORS = "Safetensors"
    TORCH_SCRIPT = "TorchScript"
    EXPORTED_PROGRAM = "ExportedProgram"
    HUGGING_FACE = "HuggingFace"
    LIGHTNING = "Lightning"
    DISTRIBUTED_CHECKPOINT = "DistributedCheckpoint"
    MODULE = "Module"


class AddressingStyle(StrEnum):
    """Where an S3 request names the bucket."""

    AUTO = "Auto"
    PATH = "Path"
    VIRTUAL = "Virtual"


WeightPattern = Annotated[str, StringConstraints(min_length=1, max_length=256)]


class Source(ApiModel):
    """The checkpoint to export, or several checkpoints of one architecture."""

    uri: Uri | None = Field(
        default=None,
        description="URI of the checkpoint: s3://bucket/key, or pvc://claim/path in the volume of "
        "a PersistentVolumeClaim of the namespace, in a cluster; file:///path with `modelexport "
        "run`. It names an object, or a directory (it ends in /): shards with their index, a "
        "Hugging Face model, or a DistributedCheckpoint. A glob makes a batch: *, ? and "
        "[abc] match within a name, ** matches across directories; a glob that ends in / matches "
        "directories.",
    )
    uris: Annotated[list[Uri], Field(min_length=1, max_length=1000)] | None = Field(
        default=None,
        description="URIs of the checkpoints of a batch. Globs are not expanded.",
    )
    format: Format = Field(
        default=Format.AUTO,
        description="Format of the checkpoint. Auto detects it from the content. StateDict and "
        "Safetensors contain weights only. HuggingFace is a directory with config.json. "
        "Lightning is a .ckpt file of PyTorch Lightning. DistributedCheckpoint is a directory of "
        "torch.distributed.checkpoint. TorchScript, ExportedProgram and Module contain the "
        "model's graph; Module is a whole pickled module and requires allowPickle.",
    )
    sha256: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")] | None = Field(
        default=None,
        description="Expected SHA-256 digest of the checkpoint, in lower-case hex. Allowed for a "
        "single object only.",
    )
    version_id: Annotated[str, StringConstraints(min_length=1, max_length=1024)] | None = Field(
        default=None,
        description="Version of the S3 object, in a bucket with versioning. Allowed for a single "
        "object only.",
    )
    state_dict_key: Annotated[str, StringConstraints(min_length=1, max_length=256)] | None = Field(
        default=None,
        description="Path of the state_dict inside a checkpoint that contains other entries, "
        "such as `model` or `state.ema`. If not set: the whole checkpoint, or its only entry "
        "named state_dict, model_state_dict, model or module.",
    )
    unused_weights: list[WeightPattern] = Field(
        default_factory=list,
        max_length=64,
        description="Tensors of the checkpoint that the module does not have and does not need, "
        "such as the head of a training task: names, in which * stands for any characters "
        "(`head.*`). If not set: every tensor must have its place in the module.",
    )
    factory_weights: list[WeightPattern] = Field(
        default_factory=list,
        max_length=64,
        description="Tensors of the module that the checkpoint does not hold and that keep the "
        "values that the factory gives them, such as a computed table: names, in which * stands "
        "for any characters. If not set: the checkpoint must hold every tensor.",
    )
    allow_pickle: bool = Field(
        default=False,
        description="Allow the checkpoint to run code while it is loaded (pickle). Set this only "
        "for checkpoints that you trust like your own code.",
    )

    @property
    def is_batch(self) -> bool:
        """Return whether this names several checkpoints."""
        return self.uris is not None or is_glob(self.uri or "")

    @property
    def one(self) -> str:
        """Return the URI of the only checkpoint. Raises ValueError if several are listed."""
        if self.uri is None:
            msg = "the source is a list of checkpoints"
            raise ValueError(msg)
        return self.uri


class Storage(ApiModel):
    """How to access source, code and destination."""

    endpoint: (
        Annotated[str, StringConstraints(pattern=r"^https?://[^/@]+(/.*)?$", max_length=2048)]
        | None
    ) = Field(
        default=None,
        description="URL of an S3-compatible server, without credentials. If not set: AWS.",
    )
    region: Annotated[str, StringConstraints(min_length=1, max_length=64)] | None = Field(
        default=None, description="Region of the buckets."
    )
    addressing_style: AddressingStyle = Field(
        default=AddressingStyle.AUTO,
        description="Where requests name the bucket. Path: in the path of the URL, for servers "
        "without a DNS name for each bucket. Virtual: in the host name. Auto: Path if an "
        "endpoint is set, otherwise Virtual.",
    )
    secret_name: Annotated[str, StringConstraints(min_length=1, max_length=253)] | None = Field(
        default=None,
        description="Name of a Secret in the same namespace with AWS_ACCESS_KEY_ID and "
        "AWS_SECRET_ACCESS_KEY (and optionally AWS_SESSION_TOKEN). If not set, the identity of "
        "the pod's service account is used.",
    )


class Code(ApiModel):
    """Python code of the model."""

    uri: Uri = Field(
        description="URI of a zip file or a directory. Its root is added to Python's import path."
    )


class Model(ApiModel):
    """The module that the weights are loaded into, and its code."""

    factory: Callable | None = Field(
        default=None,
        description="`package.module:callable` that returns the module, or a function made with "
        "torch.jit.script, when called with kwargs. Not required if the checkpoint contains its "
        "graph, nor for HuggingFace, where it replaces the class named by config.json.",
    )
    kwargs: FreeForm = Field(default_factory=dict, description="Keyword arguments for the factory.")
    code: Code | None = Field(
        default=None,
        description="Code that factory, exampleInputs and plugins are imported from, if it is "
        "not in the image.",
    )
    example_inputs: Callable | None = Field(
        default=None,
        description="`package.module:callable` that returns `(args, kwargs)` for forward, for "
        "arguments that inputs cannot describe. The entries of inputs then name the tensors in "
        "it, in order, and their dynamic dims; dtype and shape may be omitted.",
    )
    state: list[Identifier] = Field(
        default_factory=list,
        max_length=64,
        description="Buffers that forward changes from call to call, such as `cell.memory`. Each "
        "becomes an input `cell_memory` of the file, which need not be declared, and an output "
        "`next_cell_memory`.",
    )
    training: bool = Field(
        default=False,
        description="Export and verify the module in train mode instead of eval mode.",
    )
    network: Network | None = Field(
        default=None,
        description="Whether the model's code may use the network, for example to download in its "
        "factory. If not set: Closed in a pod, Open on a workstation.",
    )
