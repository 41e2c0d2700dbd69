"""The destination of the verified artifact, and its layout."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field, StringConstraints

from modelexport_api.base import ApiModel
from modelexport_api.types import Uri


class Overwrite(StrEnum):
    """What to do with an artifact that is already at the destination."""

    IF_CHANGED = "IfChanged"
    ALWAYS = "Always"
    NEVER = "Never"


class Layout(StrEnum):
    """How the published files are named."""

    PLAIN = "Plain"
    TRITON = "Triton"


class Destination(ApiModel):
    """The location and layout of the published artifact."""

    uri: Uri = Field(
        description="Directory to publish to, on S3 or in a volume (pvc://claim/path/): the ONNX "
        "file, its external data, the reports, the provenance statement and manifest.json. With "
        "layout Triton: the model's directory in "
        "the model repository; its name is the model's name. In mode Verify: directory of the "
        "report, and the default location of the artifact to verify. Placeholders are replaced "
        "for each checkpoint: {name} by its file name, {stem} by the name without its suffix, "
        "{parent} by the name of the directory that contains it, {index} by its position in the "
        "batch, from 0."
    )
    layout: Layout = Field(
        default=Layout.PLAIN,
        description="Plain writes model.onnx. Triton writes config.pbtxt and 1/model.onnx, as "
        "Triton Inference Server reads them.",
    )
    overwrite: Overwrite = Field(
        default=Overwrite.IF_CHANGED,
        description="What to do if there is already an artifact at the destination. IfChanged: "
        "keep it if it was made from the same source and spec, otherwise replace it. Always: "
        "export again and replace it. Never: fail if it was made from another source or spec.",
    )
    signing_secret_name: Annotated[str, StringConstraints(max_length=253)] | None = Field(
        default=None,
        description="Name of a Secret with the private key that signs the provenance statement "
        "(entry `key.pem`: unencrypted PEM, Ed25519, ECDSA or RSA). If not set, the statement is "
        "published unsigned.",
    )
