"""Which ATen ops an ONNX operator implements, by name: to choose among fused ops."""

from __future__ import annotations

_ATEN_NAMES = {
    "gemm": ("addmm", "linear", "mm"),
    "matmul": ("mm", "bmm", "matmul", "addmm", "linear", "baddbmm"),
    "fusedmatmul": ("mm", "bmm", "matmul"),
    "gather": ("embedding", "index_select", "select", "gather", "index"),
    "clip": ("clamp", "hardtanh", "relu6"),
    "resize": ("upsample", "interpolate"),
    "concat": ("cat", "stack"),
    "averagepool": ("avg_pool",),
    "globalaveragepool": ("adaptive_avg_pool", "mean"),
    "reducemean": ("mean", "adaptive_avg_pool"),
    "lstm": ("lstm", "mm"),
    "gru": ("gru", "mm"),
    "rnn": ("rnn", "mm"),
}


def corresponds(node_op: str, aten_op: str) -> bool:
    """Return whether an operator implements an op by its name: Conv, aten.convolution.default."""
    node = node_op.rpartition("::")[2].lower()
    parts = aten_op.split(".")
    aten = (parts[1] if len(parts) > 1 else parts[0]).lower()
    if node in _ATEN_NAMES:
        return any(name in aten for name in _ATEN_NAMES[node])
    plain = aten.replace("_", "")
    short = node.removesuffix("normalization").removesuffix("elements")
    return bool(short) and (short in plain or plain.removeprefix("native") in node)
