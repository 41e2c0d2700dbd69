"""Names of weights that differ from the module's only by what a wrapper put in front.

DataParallel, torch.compile and FSDP add segments to names, Lightning modules hold the network as
an attribute. Guarantees that names are changed only where that makes more of them match the
module; strict loading still decides whether they fit, and every change is reported.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from modelexport_exporter.core.types import ContractFinding
from modelexport_exporter.user_code.wrappers import SEGMENTS

_DEEPEST = 3
"""How many segments may precede all names."""


@dataclass(frozen=True)
class Renaming:
    """A way to read a checkpoint's names."""

    names: Mapping[str, str]
    """The checkpoint's name to the module's; names that are left out are not loaded."""
    removed: str = ""
    """What was taken away, `module.` say."""


def fit_names(
    own: frozenset[str], state: Mapping[str, Any], *, only_part: bool = False
) -> tuple[Mapping[str, Any], tuple[ContractFinding, ...]]:
    """Return the state under the module's own names.

    `only_part`: what does not have the prefix may be left out, as in a Lightning module that holds
    the network next to its loss and metrics.
    """
    best = choose(own, tuple(state), only_part=only_part)
    if not best.removed:
        return state, ()
    renamed = {new: state[old] for old, new in best.names.items()}
    return renamed, tuple(_findings(best, tuple(state)))


def choose(own: frozenset[str], stored: tuple[str, ...], *, only_part: bool) -> Renaming:
    """Return the renaming by which most names match the module; the simplest of equals."""
    return max(
        _renamings(own, stored, only_part=only_part),
        key=lambda renaming: len(own & set(renaming.names.values())),
    )


def _renamings(
    own: frozenset[str], stored: tuple[str, ...], *, only_part: bool
) -> Iterator[Renaming]:
    yield Renaming({name: name for name in stored})
    meant = {without_wrappers(name): name for name in own}
    bare = {name: without_wrappers(name) for name in stored}
    segments = {part for name in stored for part in name.split(".") if part in SEGMENTS}
    removed = ", ".join(f"{part}." for part in sorted(segments))
    if removed:
        yield from _renaming(bare, meant, removed)
    prefixes = _common_prefixes(list(bare.values()))
    if only_part:
        prefixes += sorted({name.partition(".")[0] + "." for name in bare.values()})
    for prefix in prefixes:
        cut = {old: new[len(prefix) :] for old, new in bare.items() if new.startswith(prefix)}
        yield from _renaming(cut, meant, ", ".join(part for part in (removed, prefix) if part))


def _renaming(
    bare: Mapping[str, str], meant: Mapping[str, str], removed: str
) -> Iterator[Renaming]:
    names = {old: meant.get(new, new) for old, new in bare.items()}
    if len(set(names.values())) == len(names):
        yield Renaming(names, removed)


def without_wrappers(name: str) -> str:
    """Return the name without the segments of wrappers."""
    return ".".join(part for part in name.split(".") if part not in SEGMENTS)


def _common_prefixes(names: list[str]) -> list[str]:
    """Return what all names begin with, whole segments, the shortest first."""
    found: list[str] = []
    first = names[0].split(".") if names else []
    for depth in range(1, min(len(first), _DEEPEST + 1)):
        prefix = ".".join(first[:depth]) + "."
        if not all(name.startswith(prefix) for name in names):
            break
        found.append(prefix)
    return found


def _findings(best: Renaming, stored: tuple[str, ...]) -> Iterator[ContractFinding]:
    yield ContractFinding(
        subject="weights",
        requested=f"names with {best.removed} in the checkpoint ({len(best.names)} tensors)",
        obtained=f"the module's names, without {best.removed}",
    )
    left = [name for name in stored if name not in best.names]
    if left:
        yield ContractFinding(
            subject="weights",
            requested=f"{len(left)} other tensors in the checkpoint ({', '.join(left[:4])})",
            obtained="left out: the module does not have them",
        )
