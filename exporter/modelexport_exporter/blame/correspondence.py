"""Which ONNX operator writes which ATen op, by name: to name the right one of fused ops."""

from __future__ import annotations

_KIN = {
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


def are_kin(node_op: str, aten_op: str) -> bool:
    """Tell whether an operator's name speaks for an op: Conv for aten.convolution.default."""
    node = node_op.rpartition("::")[2].lower()
    parts = aten_op.split(".")
    aten = (parts[1] if len(parts) > 1 else parts[0]).lower()
    if node in _KIN:
        return any(name in aten for name in _KIN[node])
    plain = aten.replace("_", "")
    short = node.removesuffix("normalization").removesuffix("elements")
    return bool(short) and (short in plain or plain.removeprefix("native") in node)
