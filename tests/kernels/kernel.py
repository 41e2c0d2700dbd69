"""One operator of ONNX, run alone by onnxruntime and compared with torch's expression for it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
import onnxruntime
import torch
from onnx import TensorProto, helper
from torch import Tensor

from kernels.values import DTYPES, classes

Arguments = tuple[Tensor, ...]
Layout = Callable[[list[float], torch.dtype], Iterator[Arguments]]
"""Makes arguments of the values of a class."""
ROUNDING = {True: 64, False: 1024}
"""Units of roundoff that a result may differ by: of one element, and of sums."""
_TYPES = {
    torch.float32: TensorProto.FLOAT,
    torch.float64: TensorProto.DOUBLE,
    torch.float16: TensorProto.FLOAT16,
    torch.bfloat16: TensorProto.BFLOAT16,
    torch.int64: TensorProto.INT64,
    torch.int32: TensorProto.INT32,
    torch.int16: TensorProto.INT16,
    torch.int8: TensorProto.INT8,
    torch.uint8: TensorProto.UINT8,
    torch.bool: TensorProto.BOOL,
}


@dataclass(frozen=True)
class Kernel:
    """An operator with its attributes, and what torch computes in its place."""

    operator: str
    eager: Callable[..., Any]
    layout: Layout
    attributes: Mapping[str, Any] = field(default_factory=dict)
    constants: Mapping[int, Any] = field(default_factory=dict)
    """Inputs that are initializers: int64 arrays, or functions of the dtype."""
    dtypes: Sequence[torch.dtype] = DTYPES
    without: Sequence[str] = ()
    """Classes of inputs that are no inputs of it."""
    opset: int = 20
    outputs: int = 1
    variant: str = ""
    """Distinguishes rows of one operator: `axis 0`."""
    elementwise: bool = False
    """Whether each element has its own limit, in place of one relative to the peak."""

    @property
    def name(self) -> str:
        """Return `ReduceSum (axis 0)`."""
        return f"{self.operator} ({self.variant})" if self.variant else self.operator


@dataclass(frozen=True, order=True)
class Difference:
    """What differs for one class of inputs."""

    kernel: str
    dtype: str
    inputs: str
    kind: str
    """`value`, `NaN or infinity`, `sign of zero`, `shape`, `dtype` or `failure`."""
    example: str


def sweep(kernel: Kernel) -> Iterator[Difference]:
    """Yield the first difference of each dtype, class of inputs and kind."""
    for dtype in kernel.dtypes:
        sessions = Sessions(kernel, dtype)
        if not sessions.has_kernel():
            continue
        seen: set[tuple[str, str]] = set()
        floats = dtype.is_floating_point
        for name, values in classes(dtype).items():
            if name in kernel.without or (floats and f"float {name}" in kernel.without):
                continue
            for arguments in kernel.layout(values, dtype):
                inputs = name if all(x.numel() for x in arguments) else "empty"
                for kind, example in _compare(sessions, kernel, arguments):
                    if (inputs, kind) not in seen:
                        seen.add((inputs, kind))
                        short = str(dtype).removeprefix("torch.")
                        yield Difference(kernel.name, short, inputs, kind, example)


class Sessions:
    """onnxruntime's sessions of an operator in a dtype, one for each rank of its inputs."""

    def __init__(self, kernel: Kernel, dtype: torch.dtype) -> None:
        self._kernel = kernel
        self._dtype = dtype
        self._by_rank: dict[tuple[int, ...], onnxruntime.InferenceSession] = {}
        values = next(iter(classes(dtype).values()))
        self._first = next(iter(kernel.layout(values, dtype)))

    def has_kernel(self) -> bool:
        """Return whether onnxruntime runs the operator in the dtype, and torch its expression."""
        try:
            self._session(self._first)
        except Exception:  # noqa: BLE001 - the schema, the runtime or torch has no such type
            return False
        return True

    def run(self, arguments: Arguments) -> Sequence[np.ndarray]:
        """Return onnxruntime's answer."""
        feed = {f"x{place}": _fed(x) for place, x in enumerate(arguments)}
        result: Sequence[np.ndarray] = self._session(arguments).run(None, feed)
        return result

    def _session(self, arguments: Arguments) -> onnxruntime.InferenceSession:
        ranks = tuple(x.dim() for x in arguments)
        if ranks not in self._by_rank:
            options = onnxruntime.SessionOptions()
            options.log_severity_level = 4
            options.intra_op_num_threads = 1
            answer = self._kernel.eager(*self._first)
            answers = [answer] if isinstance(answer, Tensor) else list(answer)
            file = _model(self._kernel, arguments, [x.dtype for x in answers])
            self._by_rank[ranks] = onnxruntime.InferenceSession(
                file.SerializeToString(), options, ["CPUExecutionProvider"]
            )
        return self._by_rank[ranks]


def _fed(x: Tensor) -> np.ndarray:
    return (x.float() if x.dtype is torch.bfloat16 else x).numpy()


def _model(
    kernel: Kernel, arguments: Arguments, returned: Sequence[torch.dtype]
) -> onnx.ModelProto:
    """Return the operator as a file; bfloat16, which numpy lacks, is float32 outside."""
    inputs, nodes, names, constants = [], [], [], []
    given = iter(enumerate(arguments))
    for place in range(len(arguments) + len(kernel.constants)):
        if place in kernel.constants:
            value = kernel.constants[place]
            dtype = arguments[0].dtype
            array = value(dtype) if callable(value) else np.array(value, np.int64)
            constants.append(onnx.numpy_helper.from_array(array, f"c{place}"))
            names.append(f"c{place}")
            continue
        position, x = next(given)
        wide = x.dtype is torch.bfloat16
        kind = TensorProto.FLOAT if wide else _TYPES[x.dtype]
        shape = [None] * x.dim()
        inputs.append(helper.make_tensor_value_info(f"x{position}", kind, shape))
        if wide:
            to = TensorProto.BFLOAT16
            nodes.append(helper.make_node("Cast", [f"x{position}"], [f"b{position}"], to=to))
        names.append(f"b{position}" if wide else f"x{position}")
    outputs = [f"y{place}" for place in range(kernel.outputs)]
    nodes.append(helper.make_node(kernel.operator, names, outputs, **kernel.attributes))
    for place, dtype in enumerate(returned):
        if dtype is torch.bfloat16:
            outputs[place] = f"w{place}"
            nodes.append(
                helper.make_node("Cast", [f"y{place}"], [f"w{place}"], to=TensorProto.FLOAT)
            )
    results = [helper.make_empty_tensor_value_info(name) for name in outputs]
    graph = helper.make_graph(nodes, "kernel", inputs, results, constants)
    opsets = [helper.make_opsetid("", kernel.opset)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10)


def _compare(sessions: Sessions, kernel: Kernel, arguments: Arguments) -> Iterator[tuple[str, str]]:
    try:
        answer = kernel.eager(*arguments)
    except (RuntimeError, IndexError, ValueError):
        return  # torch refuses it: nothing to compare
    wanted = [answer] if isinstance(answer, Tensor) else list(answer)
    try:
        found = sessions.run(arguments)
    except Exception as error:  # noqa: BLE001 - whatever onnxruntime raises
        yield "failure", f"{_shapes(arguments)}: {' '.join(str(error).split())[:90]}"
        return
    for want, got in zip(wanted, found, strict=True):
        yield from _difference(kernel, arguments, want, torch.from_numpy(np.array(got)))


def _shapes(arguments: Arguments) -> str:
    return ", ".join(str(list(x.shape)) for x in arguments)


def _difference(
    kernel: Kernel, arguments: Arguments, want: Tensor, got: Tensor
) -> Iterator[tuple[str, str]]:
    if want.dtype is torch.bfloat16:
        got = got.to(torch.bfloat16)
    elif got.dtype != want.dtype and not (got.dtype is torch.float32 and want.dtype is got.dtype):
        if want.dtype not in (torch.bool, torch.int64) or got.dtype.is_floating_point:
            yield "dtype", f"{got.dtype}, torch {want.dtype}"
            return
        want = want.to(got.dtype)
    if want.shape != got.shape:
        yield "shape", f"{list(got.shape)}, torch {list(want.shape)} for {_shapes(arguments)}"
        return
    for kind, wrong in _wrong_places(kernel, want, got).items():
        place = _first(wrong)
        if place is not None:
            yield kind, _example(kernel, arguments, want, got, place)


def _first(wrong: Tensor) -> int | None:
    places = wrong.reshape(-1).nonzero()
    return int(places[0]) if len(places) else None


def _wrong_places(kernel: Kernel, want: Tensor, got: Tensor) -> dict[str, Tensor]:
    if not want.dtype.is_floating_point:
        return {"value": want != got}
    finite = want.isfinite() & got.isfinite()
    same_odd = (want.isnan() & got.isnan()) | (want == got)
    a, b = want.double(), got.double()
    size = a.abs() if kernel.elementwise else a[want.isfinite()].abs().max() if finite.any() else a
    info = torch.finfo(want.dtype)
    limit = ROUNDING[kernel.elementwise] * info.eps * size + info.smallest_normal * info.eps * 4
    zeros = (want == 0) & (got == 0) & (torch.signbit(want) != torch.signbit(got))
    return {
        "value": finite & ((a - b).abs() > limit),
        "NaN or infinity": ~finite & ~same_odd,
        "sign of zero": zeros,
    }


def _example(kernel: Kernel, arguments: Arguments, want: Tensor, got: Tensor, place: int) -> str:
    result = f"{_number(got, place)}, torch {_number(want, place)}"
    if kernel.elementwise and all(x.shape == want.shape for x in arguments):
        return f"{', '.join(_number(x, place) for x in arguments)} → {result}"
    if math.prod(arguments[0].shape) <= 4:
        return f"{arguments[0].tolist()} → {result}"
    return result


def _number(x: Tensor, place: int) -> str:
    value = x.reshape(-1)[place].item()
    return f"{value:.9g}" if isinstance(value, float) else str(value)
