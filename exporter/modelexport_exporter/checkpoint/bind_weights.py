"""Putting a checkpoint's tensors into a module: the mapped bytes themselves where they fit.

Guarantees the result of eager `load_state_dict(strict=True)`, without its copy: names and shapes
match, each tensor has the module's dtype, tied parameters stay one, nothing is left on meta.
Beyond eager: floating point is never cast to integer or back, a tied parameter may be stored
under one of its names, and under several only with the same value.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from modelexport_api.reasons import Reason
from modelexport_exporter.checkpoint.state_dict_mismatch import Mismatch, describe_shape
from modelexport_exporter.checkpoint.versions import as_of_today, with_versions
from modelexport_exporter.checkpoint.weight_patterns import factory_finding, matching
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.out_of_memory import reraise_out_of_memory
from modelexport_exporter.core.types import ContractFinding
from modelexport_exporter.torch_internals.state_dicts import Versions, has_versions

State = Mapping[str, Any]


class CannotAssignError(Exception):
    """Loading runs code of the module that needs real parameters to copy into."""


def bind_weights(
    module: torch.nn.Module,
    state: State,
    *,
    assign: bool,
    versions: Versions | None = None,
    from_factory: Sequence[str] = (),
) -> tuple[ContractFinding, ...]:
    """Load the state_dict into the module; return what had to be adapted.

    `versions`: of the modules that wrote the state, where the checkpoint has them. `from_factory`:
    patterns of names that the state may lack.
    """
    tied = _tied_names(module)
    state = _without_known_buffers(module, state)
    state, findings = _in_dtypes_of(module, state)
    _check_tied_values(tied, state)
    try:
        labelled = with_versions(module, state, versions or {})
        keys = _load(module, labelled, assign=assign)
    except Exception as error:
        reraise_out_of_memory(error)
        mismatch = Mismatch.of(module, state, tied, detail=_told(error))
        if assign and not mismatch.is_explained:
            raise CannotAssignError from error
        raise mismatch.failure() from error
    missing = _really_missing(keys.missing_keys, tied, state)
    kept = matching(missing, from_factory)
    missing = [name for name in missing if name not in kept]
    if missing or keys.unexpected_keys:
        raise Mismatch.of(
            module, state, tied, missing=missing, unexpected=keys.unexpected_keys
        ).failure()
    if assign:
        _tie_again(module, tied, state)
    return (*findings, factory_finding(kept)) if kept else findings


def _load(module: torch.nn.Module, state: State, *, assign: bool) -> Any:  # noqa: ANN401
    """Load; modules that cannot read a state without versions get today's."""
    try:
        return module.load_state_dict(state, strict=False, assign=assign)
    except RuntimeError:
        raise  # torch's own word for shapes and types that do not fit
    except Exception:
        if has_versions(state):
            raise
    return module.load_state_dict(as_of_today(module, state), strict=False, assign=assign)


def _told(error: Exception) -> str:
    return str(error) if isinstance(error, RuntimeError) else f"{type(error).__name__}: {error}"


def tensors_on_meta(module: torch.nn.Module) -> list[str]:
    """Return the parameters and buffers that hold no values."""
    named = (*module.named_parameters(), *module.named_buffers())
    return [name for name, tensor in named if tensor.is_meta]


def _tied_names(module: torch.nn.Module) -> list[tuple[str, ...]]:
    """Return the names of each parameter or buffer that has several."""
    names: dict[int, list[str]] = defaultdict(list)
    for name, tensor in (
        *module.named_parameters(remove_duplicate=False),
        *module.named_buffers(remove_duplicate=False),
    ):
        names[id(tensor)].append(name)
    return [tuple(group) for group in names.values() if len(group) > 1]


def _without_known_buffers(module: torch.nn.Module, state: State) -> State:
    """Drop entries that the module computes itself and that agree with it.

    Libraries made buffers such as position ids non-persistent; older checkpoints still hold them.
    """
    buffers = dict(module.named_buffers(remove_duplicate=False))
    own = module.state_dict(keep_vars=True).keys()
    known = {
        name
        for name in state.keys() - own
        if name in buffers and _same_value(state[name], buffers[name])
    }
    if not known:
        return state
    return {name: value for name, value in state.items() if name not in known}


def _in_dtypes_of(
    module: torch.nn.Module, state: State
) -> tuple[State, tuple[ContractFinding, ...]]:
    """Cast what differs in precision, as copying into the module would; return the findings."""
    own = module.state_dict(keep_vars=True)
    cast: dict[str, Any] = dict(state)
    casts: dict[tuple[torch.dtype, torch.dtype], list[str]] = defaultdict(list)
    for name, value in state.items():
        target = own.get(name)
        if not isinstance(value, torch.Tensor) or not isinstance(target, torch.Tensor):
            continue
        if value.dtype == target.dtype:
            continue
        if _kind(value.dtype) != _kind(target.dtype):
            raise Mismatch.of(module, state, ()).failure()
        casts[value.dtype, target.dtype].append(name)
        cast[name] = value.to(target.dtype)
    findings = tuple(
        ContractFinding(
            subject="weights",
            requested=f"{describe_dtype(stored)} in the checkpoint ({len(names)} tensors)",
            obtained=f"{describe_dtype(wanted)}, as the module has them",
        )
        for (stored, wanted), names in casts.items()
    )
    return cast, findings


def _kind(dtype: torch.dtype) -> str:
    if dtype.is_complex:
        return "complex"
    if dtype.is_floating_point:
        return "floating point"
    return "bool" if dtype is torch.bool else "integer"


def describe_dtype(dtype: torch.dtype) -> str:
    """Return `float16` for torch.float16."""
    return str(dtype).removeprefix("torch.")


def _check_tied_values(tied: list[tuple[str, ...]], state: State) -> None:
    for group in tied:
        stored = [name for name in group if name in state]
        for name in stored[1:]:
            if not _same_value(state[stored[0]], state[name]):
                raise _different_tied(stored[0], name, state)


def _different_tied(first: str, other: str, state: State) -> ExportFailure:
    return ExportFailure(
        Reason.STATE_DICT_MISMATCH,
        f"the module has one parameter under the names {first} and {other}, but the checkpoint "
        f"holds different values for them ({describe_shape(state[first])} and "
        f"{describe_shape(state[other])})",
        "Build the module without tying these weights (a config value, in model.kwargs), or save "
        "a checkpoint in which they are equal.",
    )


def _same_value(one: object, other: object) -> bool:
    if not isinstance(one, torch.Tensor) or not isinstance(other, torch.Tensor):
        return False
    if one.is_meta or other.is_meta or one.shape != other.shape or one.dtype != other.dtype:
        return False
    if one.data_ptr() == other.data_ptr() and one.stride() == other.stride():
        return True
    return torch.equal(one, other)


def _really_missing(missing: list[str], tied: list[tuple[str, ...]], state: State) -> list[str]:
    """Leave out names whose parameter came under another of its names."""
    present = {name for group in tied if any(item in state for item in group) for name in group}
    return [name for name in missing if name not in present]


def _tie_again(module: torch.nn.Module, tied: list[tuple[str, ...]], state: State) -> None:
    """Tie parameters again: assigning gave each name a separate one."""
    for group in tied:
        source = next((name for name in group if name in state), None)
        if source is None:
            continue
        owner, _, leaf = source.rpartition(".")
        shared = getattr(module.get_submodule(owner), leaf)
        for name in group:
            owner, _, leaf = name.rpartition(".")
            setattr(module.get_submodule(owner), leaf, shared)
