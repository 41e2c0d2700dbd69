"""Shapes of layers (convolutions, pools, resampling, attention), at many sizes at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from modelexport_exporter.verification.shapes.sized import (
    Integers,
    Operands,
    Shape,
    Size,
    UnknownError,
    columns,
    known,
    number,
)


def _window(given: Operands, kernel: Sequence[Integers]) -> tuple[Size, ...]:
    """Return the sizes after a window moved over them."""
    attributes, count = given.attributes, len(kernel)
    strides = attributes.get("strides") or [1] * count
    dilations = attributes.get("dilations") or [1] * count
    pads = attributes.get("pads") or [0] * (2 * count)
    padding = attributes.get("auto_pad", b"NOTSET")
    sizes: list[Size] = []
    for at, size in enumerate(given.shape(0)[2:]):
        wide, stride = dilations[at] * (kernel[at] - 1) + 1, strides[at]
        if size is None:
            sizes.append(None)
        elif padding in {b"SAME_UPPER", b"SAME_LOWER"}:
            sizes.append(-(-size // stride))
        else:
            around = 0 if padding == b"VALID" else pads[at] + pads[at + count]
            room = size + around - wide
            found = room // stride + 1
            if attributes.get("ceil_mode"):
                found = _rounded_up(size + pads[at], room, stride)
            sizes.append(found)
    return tuple(sizes)


def _rounded_up(reach: Integers, room: Integers, stride: int) -> Integers:
    """Return the number of windows, of which the last begins in the data or the first padding."""
    found = -(-room // stride) + 1
    return np.where((found - 1) * stride >= reach, found - 1, found)


def _convolved(given: Operands) -> list[Shape]:
    weight = given.shape(1)
    kernel = [known(size) for size in weight[2:]]
    return [(given.shape(0)[0], weight[0], *_window(given, kernel))]


def _pooled(given: Operands) -> list[Shape]:
    kernel = [number(size) for size in given.attributes["kernel_shape"]]
    return [(*given.shape(0)[:2], *_window(given, kernel))] * 2


def _pooled_whole(given: Operands) -> list[Shape]:
    shape = given.shape(0)
    return [(*shape[:2], *[number(1)] * (len(shape) - 2))]


def _convolved_back(given: Operands) -> list[Shape]:
    attributes, weight = given.attributes, given.shape(1)
    count = len(weight) - 2
    if attributes.get("output_shape") or attributes.get("auto_pad", b"NOTSET") != b"NOTSET":
        raise UnknownError
    strides = attributes.get("strides") or [1] * count
    dilations = attributes.get("dilations") or [1] * count
    pads = attributes.get("pads") or [0] * (2 * count)
    more = attributes.get("output_padding") or [0] * count
    sizes = [
        None
        if size is None
        else strides[at] * (size - 1)
        + more[at]
        + (known(weight[at + 2]) - 1) * dilations[at]
        + 1
        - pads[at]
        - pads[at + count]
        for at, size in enumerate(given.shape(0)[2:])
    ]
    channels = known(weight[1]) * attributes.get("group", 1)
    return [(given.shape(0)[0], channels, *sizes)]


def _padded(given: Operands) -> list[Shape]:
    sizes = list(given.shape(0))
    listed = given.attributes.get("pads")
    pads = [number(at) for at in listed] if listed is not None else columns(known(given.value(1)))
    axes = given.numbers(3) or range(len(sizes))
    for at, axis in enumerate(axes):
        size = sizes[axis]
        sizes[axis] = None if size is None else size + pads[at] + pads[at + len(axes)]
    return [tuple(sizes)]


def _spectrum(given: Operands) -> list[Shape]:
    """Return the shape of an STFT: [batch, frames, bins, 2]."""
    signal = given.shape(0)
    length = given.value(3)
    (wide,) = (known(given.shape(2)[0]),) if length is None else columns(length)
    (step,) = columns(known(given.value(1)))
    bins = wide // 2 + 1 if given.attributes.get("onesided", 1) else wide
    return [(signal[0], (known(signal[1]) - wide) // step + 1, bins, number(2))]


def _resized(given: Operands) -> list[Shape]:
    """Scales are float32, and so is what onnxruntime multiplies them with."""
    shape = given.shape(0)
    attributes = given.attributes
    policy = attributes.get("keep_aspect_ratio_policy", b"stretch")
    if attributes.get("axes") or policy != b"stretch":
        raise UnknownError
    wanted = given.value(3)
    if wanted is not None and wanted.size:
        return [tuple(columns(wanted))]
    scales = known(given.value(2))
    if scales.shape[-1] != len(shape):
        raise UnknownError
    return [
        tuple(
            None
            if size is None
            else np.floor(size.astype(np.float32) * scales[:, at]).astype(np.int64)
            for at, size in enumerate(shape)
        )
    ]


def _depth_to_space(given: Operands) -> list[Shape]:
    batch, channels, *places = map(known, given.shape(0))
    block = given.attributes["blocksize"]
    return [(batch, channels // block**2, *(size * block for size in places))]


def _space_to_depth(given: Operands) -> list[Shape]:
    batch, channels, *places = map(known, given.shape(0))
    block = given.attributes["blocksize"]
    return [(batch, channels * block**2, *(size // block for size in places))]


def _attended(given: Operands) -> list[Shape]:
    batch, heads, queries, _ = given.shape(0)
    return [(batch, heads, queries, given.shape(2)[3])]


def _determinant(given: Operands) -> list[Shape]:
    return [given.shape(0)[:-2]]


def _recurrent(given: Operands) -> list[Shape]:
    if given.attributes.get("layout"):
        raise UnknownError
    steps, batch, _ = given.shape(0)
    both = given.attributes.get("direction", b"forward") == b"bidirectional"
    ways, hidden = number(1 + both), number(given.attributes["hidden_size"])
    return [(steps, ways, batch, hidden), (ways, batch, hidden), (ways, batch, hidden)]


LAYERS: dict[str, Callable[[Operands], Sequence[Shape]]] = {
    "Conv": _convolved,
    "ConvTranspose": _convolved_back,
    "MaxPool": _pooled,
    "AveragePool": _pooled,
    "LpPool": _pooled,
    "GlobalAveragePool": _pooled_whole,
    "GlobalMaxPool": _pooled_whole,
    "DepthToSpace": _depth_to_space,
    "SpaceToDepth": _space_to_depth,
    "STFT": _spectrum,
    "Pad": _padded,
    "Attention": _attended,
    "Det": _determinant,
    "LSTM": _recurrent,
    "GRU": _recurrent,
    "RNN": _recurrent,
    "Resize": _resized,
}
