"""How a checkpoint and a module differ, in a sentence that shows the pattern and not the flood."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from modelexport_api.reasons import Reason
from modelexport_exporter.checkpoint.weight_patterns import as_patterns, listed
from modelexport_exporter.core.errors import ExportFailure


@dataclass(frozen=True)
class Mismatch:
    """What is missing, what is too much, what has another shape or dtype."""

    missing: tuple[str, ...]
    unexpected: tuple[str, ...]
    different: tuple[str, ...]
    """Sentences: `name: (2, 3) in the checkpoint, (3, 3) in the module`."""
    prefix: str = ""
    """A prefix that the module's names have and the checkpoint's lack."""
    detail: str = ""
    """The message of torch, for what the lists do not show."""

    @classmethod
    def of(
        cls,
        module: torch.nn.Module,
        state: Mapping[str, Any],
        tied: Iterable[tuple[str, ...]],
        *,
        missing: Iterable[str] | None = None,
        unexpected: Iterable[str] | None = None,
        detail: str = "",
    ) -> Mismatch:
        """Compare the module's own state_dict with the checkpoint's."""
        own = module.state_dict(keep_vars=True)
        stored_once = {
            name for group in tied if any(item in state for item in group) for name in group
        }
        if missing is None:
            missing = [name for name in own if name not in state and name not in stored_once]
        if unexpected is None:
            unexpected = [name for name in state if name not in own]
        different = tuple(
            f"{name}: {describe_shape(state[name])} in the checkpoint, "
            f"{describe_shape(own[name])} in the module"
            for name in own
            if name in state and not _fits(state[name], own[name])
        )
        return cls(
            tuple(missing), tuple(unexpected), different, _surplus_prefix(state, own), detail
        )

    @property
    def is_explained(self) -> bool:
        """Return whether the lists show what is wrong."""
        return bool(self.missing or self.unexpected or self.different)

    def failure(self) -> ExportFailure:
        """Return the failure with the first few of each kind."""
        parts = [
            _listed("missing in the checkpoint", self.missing),
            _listed("not in the module", self.unexpected),
            _listed("different", self.different, separator="; "),
        ]
        text = ". ".join(part for part in parts if part) or self.detail.strip()[:800]
        return ExportFailure(
            Reason.STATE_DICT_MISMATCH,
            f"the checkpoint does not fit the module: {text}",
            self._hint(),
        )

    def _hint(self) -> str:
        if self.prefix:
            return (
                f"Every name in the module begins with {self.prefix}: the factory wraps the module "
                "that was saved. Let it return that module itself."
            )
        if self.different:
            return "Give the factory the sizes that the checkpoint was trained with: model.kwargs."
        if bool(self.missing) == bool(self.unexpected):
            return (
                "Check that model.factory and model.kwargs build the module that was trained; "
                "where the weights are nested in the checkpoint, set source.stateDictKey. Weights "
                "that only one of both needs are named in source.unusedWeights and "
                "source.factoryWeights."
            )
        field, names = (
            ("unusedWeights", self.unexpected)
            if self.unexpected
            else ("factoryWeights", self.missing)
        )
        why = "does not need them" if self.unexpected else "computes them itself"
        return (
            "Check that model.factory and model.kwargs build the module that was trained. If it "
            f"{why}, set source.{field}: {as_patterns(names)}; or save the state_dict of the "
            "factory's own module."
        )


def describe_shape(value: object) -> str:
    """Return `float32 (2, 3)`."""
    if isinstance(value, torch.Tensor):
        return f"{str(value.dtype).removeprefix('torch.')} {tuple(value.shape)}"
    return type(value).__name__


def _fits(stored: object, own: object) -> bool:
    if not isinstance(stored, torch.Tensor) or not isinstance(own, torch.Tensor):
        return type(stored) is type(own)
    return stored.shape == own.shape and (
        stored.is_floating_point() == own.is_floating_point()
        and stored.is_complex() == own.is_complex()
        and (stored.dtype is torch.bool) == (own.dtype is torch.bool)
    )


def _surplus_prefix(state: Mapping[str, Any], own: Mapping[str, Any]) -> str:
    """Return the prefix without which the module's names are the checkpoint's."""
    prefix = next(iter(own), "").partition(".")[0] + "."
    if not all(name.startswith(prefix) for name in own):
        return ""
    return prefix if any(name.removeprefix(prefix) in state for name in own) else ""


def _listed(title: str, names: tuple[str, ...], separator: str = ", ") -> str:
    return f"{title}: {listed(names, separator)}" if names else ""
