"""Where the verified artifact is published, and in which layout."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field, StringConstraints

from modelexport_api.base import ApiModel
from modelexport_api.types import Uri


class Overwrite(StrEnum):
    """What happens to an artifact that is already at the destination."""

    IF_CHANGED = "IfChanged"
    ALWAYS = "Always"
    NEVER = "Never"


class Layout(StrEnum):
    """How the published files are named."""

    PLAIN = "Plain"
    TRITON = "Triton"


class Destination(ApiModel):
    """Where the verified artifact is published."""

    uri: Uri = Field(
        description="Directory for the ONNX file, its external data, the reports, the provenance "
        "and manifest.json. With layout Triton: the model's directory in the repository, named as "
        "the model. In mode Verify: where the report goes, and by default where the artifact is. "
        "{name} stands for the checkpoint's name, {stem} for it without its suffix, {parent} for "
        "the directory that holds it, {index} for its number in the batch, from 0."
    )
    layout: Layout = Field(
        default=Layout.PLAIN,
        description="Plain: model.onnx. Triton: config.pbtxt and 1/model.onnx, as Triton Inference "
        "Server reads them.",
    )
    overwrite: Overwrite = Field(
        default=Overwrite.IF_CHANGED,
        description="IfChanged keeps an artifact of the same source and spec and replaces any "
        "other; Always exports anew; Never fails where another artifact lies.",
    )
    signing_secret_name: Annotated[str, StringConstraints(max_length=253)] | None = Field(
        default=None,
        description="Secret with a private key in PEM (`key.pem`; unencrypted Ed25519, ECDSA or "
        "RSA) that signs the provenance statement. Absent: the statement is published unsigned.",
    )
