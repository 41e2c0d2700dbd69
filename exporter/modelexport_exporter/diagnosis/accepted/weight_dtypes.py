"""Weights of several dtypes, or of another one than the inputs, where forward runs with one."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping

import torch

from modelexport_exporter.diagnosis.accepted.limits import Limit

_LARGEST_BYTES = 512 << 20
"""Models up to this size are copied."""
_LISTED = 3


def limits_of_weights(
    model: torch.nn.Module, accepts: Callable[[torch.nn.Module], bool]
) -> list[Limit]:
    """Return that the weights must have one dtype; empty if that does not help.

    `accepts`: returns whether a copy of the model takes the refused call.
    """
    tensors = {**dict(model.named_parameters()), **dict(model.named_buffers())}
    floats = {name: own.dtype for name, own in tensors.items() if own.is_floating_point()}
    found = dict.fromkeys(floats.values())
    if len(found) == 1:
        found = {} if torch.float32 in found else {torch.float32: None}
    if not found or _bytes(tensors.values()) > _LARGEST_BYTES:
        return []
    for dtype in sorted(found, key=lambda own: own is not torch.float32):
        if accepts(copy.deepcopy(model).to(dtype)):
            return [_described({name: _name(own) for name, own in floats.items()}, _name(dtype))]
    return []


def parts_by_dtype(dtypes: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the outermost parts whose weights have one dtype, by the dtype.

    `dtypes`: of each weight by its path.
    """
    found: dict[str, list[str]] = {}
    for part, dtype in _uniform(dtypes, ""):
        found.setdefault(dtype, []).append(part)
    return found


def _uniform(dtypes: Mapping[str, str], prefix: str) -> Iterator[tuple[str, str]]:
    children: dict[str, dict[str, str]] = {}
    for path, dtype in dtypes.items():
        child = prefix + path[len(prefix) :].partition(".")[0]
        children.setdefault(child, {})[path] = dtype
    for child, own in children.items():
        if len({*own.values()}) == 1:
            yield child, next(iter(own.values()))
        else:
            yield from _uniform(own, f"{child}.")


def _described(dtypes: Mapping[str, str], dtype: str) -> Limit:
    parts = parts_by_dtype(dtypes)
    said = ", ".join(f"{_listed(names)} {own}" for own, names in parts.items())
    if len(parts) == 1:
        return Limit(
            f"all weights in {dtype} ({said})",
            f"Return the model in {dtype} (model.to(torch.{dtype}) at the end of the factory), or "
            f"set dtype: {next(iter(parts))} for the inputs.",
        )
    return Limit(
        f"all weights in {dtype} ({said})",
        f"Build the model in one dtype (model.to(torch.{dtype}) at the end of the factory), or "
        "cast in forward.",
    )


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return f"{', '.join(names[:_LISTED])}{more} {'is' if len(names) == 1 else 'are'}"


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _bytes(tensors: Iterable[torch.Tensor]) -> int:
    return sum(tensor.nbytes for tensor in tensors)
