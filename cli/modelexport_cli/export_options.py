"""The options of `modelexport export` and `init`: from text to values, pure."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote

from modelexport_api.nearest import nearest
from modelexport_api.resource import ManifestError
from modelexport_api.sizes import FORM
from modelexport_api.spec import Dim, DType, InputKind
from modelexport_cli.file_inputs import FileInput
from modelexport_exporter.core.proposal import Stated, StatedInput

_INPUT = re.compile(
    r"(?P<name>[A-Za-z_][\w.]*)(?::(?P<dtype>\w+))?(?P<shape>\[[^\]]*\])?(?::(?P<range>\S+))?"
)
_KINDS = {kind.value.lower(): kind for kind in InputKind if kind is not InputKind.CONSTANT}
_DTYPES = {dtype.value for dtype in DType}
_FORMS = "name:dtype[shape]:range, for example ids:int64[batch,seq]:0..999, image[batch,3,224,224]"
_NAME = re.compile(r"[^a-z0-9.-]+")
_NAME_LENGTH = 63
LIVE_MODULE = "modelexport_live"
"""The factory's module where a process wrote down a module of its own."""

Setting = tuple[list[str], Any]
"""Path and value of a field of the spec."""


@dataclass(frozen=True)
class ExportOptions:
    """What the user states of an export."""

    checkpoint: str
    """Path or URI."""
    factory: str | None = None
    code: str | None = None
    """Path or URI of the code; None: where the factory's module is."""
    kwargs: dict[str, Any] = field(default_factory=dict)
    inputs: tuple[StatedInput, ...] = ()
    dims: dict[str, Dim] = field(default_factory=dict)
    outputs: tuple[str, ...] = ()
    out: str | None = None
    """Path or URI of the directory to publish to; None: `<checkpoint>-onnx/` here."""
    name: str | None = None
    settings: tuple[Setting, ...] = ()
    """Path and value of more fields of the spec, as `--set` states them."""
    endpoint: str | None = None
    file_inputs: tuple[FileInput, ...] = ()
    """Inputs of a file that exists, in order."""

    @property
    def stated(self) -> Stated:
        """Return what is stated of the inputs."""
        return Stated(self.inputs, self.dims)


def parse_input(text: str) -> StatedInput:
    """Return what `ids:int64[batch,seq]:0..999` states; each part may be left out.

    Raises ManifestError.
    """
    found = _INPUT.fullmatch(text.replace(" ", ""))
    if found is None:
        raise ManifestError(f"--input {text}: expected {_FORMS}")
    dtype, kind = _dtype_or_kind(text, found["dtype"])
    shape = found["shape"]
    return StatedInput(
        name=found["name"],
        dtype=dtype,
        shape=None if shape is None else tuple(_sizes(text, shape[1:-1])),
        range=None if found["range"] is None else _limits("--input", text, found["range"]),
        kind=kind,
    )


def _dtype_or_kind(text: str, word: str | None) -> tuple[DType | None, InputKind | None]:
    if word is None:
        return None, None
    if word in _DTYPES:
        return DType(word), None
    if word.lower() in _KINDS:
        return None, _KINDS[word.lower()]
    known = [*(dtype.value for dtype in DType), *(kind.value for kind in _KINDS.values())]
    near = nearest(word, known)
    suggestion = f"did you mean {near}?" if near else f"one of {', '.join(known)}"
    raise ManifestError(f"--input {text}: {word} is no dtype and no kind of input; {suggestion}")


def _sizes(text: str, shape: str) -> list[int | str]:
    sizes: list[int | str] = []
    for size in filter(None, shape.split(",")):
        if size.isdigit():
            sizes.append(int(size))
        elif re.fullmatch(FORM, size):
            sizes.append(re.sub(r"([*+-])", r" \1 ", size))
        else:
            raise ManifestError(
                f"--input {text}: {size} is no size; expected a number, or the name of a dynamic "
                "dim such as batch or 2*n"
            )
    return sizes


def _limits(option: str, text: str, limits: str) -> tuple[float, float]:
    low_text, _, high_text = limits.partition("..")
    try:
        low, high = float(low_text), float(high_text)
    except ValueError:
        raise ManifestError(f"{option} {text}: {limits} is no range; expected 0..999") from None
    if low > high:
        raise ManifestError(f"{option} {text}: {limits} ends before it begins")
    return low, high


def parse_dim(text: str) -> tuple[str, Dim]:
    """Return what `seq=1..512` states. Raises ManifestError."""
    name, equals, limits = text.partition("=")
    if not equals or not name.isidentifier():
        raise ManifestError(
            f"--dim {text}: expected name=smallest..largest, for example seq=1..512"
        )
    low, high = _limits("--dim", text, limits)
    if low != int(low) or high != int(high) or low < 0 or high < 1:
        raise ManifestError(f"--dim {text}: sizes are whole numbers from 0 on")
    return name, Dim(min=int(low), max=int(high))


def parse_setting(text: str) -> tuple[list[str], Any]:
    """Return the path and the value of `export.opset=18`. Raises ManifestError."""
    path, equals, value = text.partition("=")
    if not equals or not path:
        raise ManifestError(f"--set {text}: expected field=value, for example export.opset=18")
    try:
        return path.removeprefix("spec.").split("."), json.loads(value)
    except ValueError:
        return path.removeprefix("spec.").split("."), value


def name_of(options: ExportOptions) -> str:
    """Return the name of the resource: that of the checkpoint, as Kubernetes takes names."""
    if options.name is not None:
        return options.name
    path = PurePosixPath(options.checkpoint.partition("://")[2] or options.checkpoint)
    generic = {"checkpoint", "model", "weights", "pytorch_model", "state_dict", "best", "last"}
    stem = path.stem if path.suffix else path.name
    if stem.lower() in generic and path.parent.name not in {"", ".", "/"}:
        stem = path.parent.name
    return plain_name(stem)


def plain_name(text: str) -> str:
    """Return a text as Kubernetes takes names: `My_Net` is `my-net`."""
    name = _NAME.sub("-", text.lower()).strip("-.")[:_NAME_LENGTH].strip("-.")
    return name or "model"


def out_of(options: ExportOptions) -> str:
    """Return the directory to publish to."""
    return options.out or f"{name_of(options)}-onnx/"


def uri_of(text: str, *, directory: bool = False) -> str:
    """Return a URI as it is, and a path as a file:// URI; one of a directory ends in /."""
    if "://" not in text:
        text = f"file://{quote(str(Path(text).expanduser().resolve()))}"
    return f"{text}/" if directory and not text.endswith("/") else text
