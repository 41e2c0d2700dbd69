"""What other tools call a value of an enum: pure."""

from __future__ import annotations

from collections.abc import Iterable

_SYNONYMS = {
    "float": "float32", "single": "float32", "fp32": "float32", "f32": "float32",
    "double": "float64", "fp64": "float64", "half": "float16", "fp16": "float16",
    "bf16": "bfloat16", "long": "int64", "int": "int64", "integer": "int64", "short": "int16",
    "char": "int8", "byte": "uint8", "boolean": "bool", "str": "string",
    "cfloat": "complex64", "cdouble": "complex128",
    "pt": "StateDict", "pth": "StateDict", "pytorch": "StateDict", "ckpt": "Lightning",
    "transformers": "HuggingFace", "hf": "HuggingFace", "jit": "TorchScript",
    "pt2": "ExportedProgram", "dcp": "DistributedCheckpoint", "pickle": "Module",
    "gpu": "CUDA", "trt": "TensorRT", "script": "TorchScript",
}  # fmt: skip


def synonym(name: str, listed: Iterable[str]) -> str | None:
    """Return the listed value for `torch.long`, `fp16`, `CPUExecutionProvider` and their like."""
    bare = name.strip().lower().removeprefix("torch.").removeprefix("np.").removeprefix("numpy.")
    bare = bare.removesuffix("executionprovider").removesuffix("tensor")
    by_name = {entry.lower(): entry for entry in listed}
    return by_name.get(bare) or by_name.get(_SYNONYMS.get(bare, "").lower())
