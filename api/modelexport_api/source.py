"""Where a model comes from: the checkpoint, its storage, and the code it is built with."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field, StringConstraints

from modelexport_api.base import ApiModel
from modelexport_api.types import Callable, FreeForm, Uri, is_glob


class Format(StrEnum):
    """How the checkpoint is stored."""

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
    """Where an S3 request names its bucket."""

    AUTO = "Auto"
    PATH = "Path"
    VIRTUAL = "Virtual"


class Source(ApiModel):
    """The checkpoint that is exported, or several of one architecture."""

    uri: Uri | None = Field(
        default=None,
        description="The checkpoint: an object, or a directory (it ends in /) of shards with their "
        "index, a Hugging Face model, or a DistributedCheckpoint. s3://bucket/key in a cluster; "
        "file:///path with `modelexport run`. Or a glob, which makes a batch: *, ? and [abc] match "
        "within a name, ** across directories; one that ends in / matches directories.",
    )
    uris: Annotated[list[Uri], Field(min_length=1, max_length=1000)] | None = Field(
        default=None,
        description="A batch: the checkpoints one by one, each taken literally.",
    )
    format: Format = Field(
        default=Format.AUTO,
        description="How the checkpoint is stored; Auto looks into the file. StateDict and "
        "Safetensors hold weights; HuggingFace is a directory with config.json; Lightning a .ckpt "
        "of PyTorch Lightning; DistributedCheckpoint a directory of torch.distributed.checkpoint; "
        "TorchScript, ExportedProgram and Module (a whole pickled module, with allowPickle only) "
        "carry their graph.",
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

    @property
    def is_batch(self) -> bool:
        """Tell whether this names several checkpoints."""
        return self.uris is not None or is_glob(self.uri or "")

    @property
    def one(self) -> str:
        """Return the URI of the one checkpoint. Raises ValueError where several are listed."""
        if self.uri is None:
            msg = "the source is a list of checkpoints"
            raise ValueError(msg)
        return self.uri

    @property
    def described(self) -> str:
        """Return what to call the source in a sentence."""
        return self.uri or f"{len(self.uris or [])} uris"


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
    """The module that the checkpoint's weights belong to, and its code."""

    factory: Callable | None = Field(
        default=None,
        description="`package.module:callable`; called with kwargs it returns the module, or a "
        "function made with torch.jit.script. Not needed where the checkpoint carries its graph, "
        "nor by HuggingFace, where it replaces the class that config.json names.",
    )
    kwargs: FreeForm = Field(default_factory=dict, description="Keyword arguments of the factory.")
    code: Code | None = Field(
        default=None,
        description="Where the code of factory, exampleInputs and plugins is, if it is not in the "
        "image.",
    )
    example_inputs: Callable | None = Field(
        default=None,
        description="`package.module:callable` that returns `(args, kwargs)` for forward, for what "
        "inputs cannot describe. The entries of inputs then name the tensors in it, in order, and "
        "their dynamic dims; dtype and shape may be left out.",
    )
    training: bool = Field(
        default=False,
        description="Export and verify the module in train mode; otherwise it is in eval mode.",
    )
