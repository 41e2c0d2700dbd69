"""Weights that the spec names because only one side has them: the checkpoint, or the module.

A checkpoint may hold a head that was needed for training only, and lack a table that the factory
computes. Guarantees that such weights are left out, or keep the factory's values, only where the
spec names them, and that each use is reported.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from modelexport_exporter.core.types import ContractFinding

SHOWN = 4
"""How many names are listed."""
_FEWEST = 2
"""Names that begin alike and are advised as one pattern."""


def matching(names: Iterable[str], patterns: Sequence[str]) -> list[str]:
    """Return the names that a pattern matches; `*` stands for any characters, dots included."""
    return [
        name for name in names if any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)
    ]


def without_unused(
    own: Collection[str], state: Mapping[str, Any], patterns: Sequence[str]
) -> tuple[Mapping[str, Any], tuple[ContractFinding, ...]]:
    """Return the state without what source.unusedWeights names and the module does not have."""
    unused = set(matching((name for name in state if name not in own), patterns))
    left = {name: value for name, value in state.items() if name not in unused}
    return (left, (unused_finding(sorted(unused)),)) if unused else (state, ())


def unused_finding(names: Sequence[str]) -> ContractFinding:
    """Return the finding on weights of the checkpoint that are left out."""
    return ContractFinding(
        "weights",
        f"{_counted(names)} more in the checkpoint ({listed(names)})",
        "left out, as source.unusedWeights says",
    )


def factory_finding(names: Sequence[str]) -> ContractFinding:
    """Return the finding on weights that the checkpoint lacks."""
    return ContractFinding(
        "weights",
        f"{_counted(names)} that the checkpoint lacks ({listed(names)})",
        "the factory's values, as source.factoryWeights says",
    )


def as_patterns(names: Sequence[str]) -> str:
    """Return `[head.*, scale]`: patterns of these names, for advice."""
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(name.rpartition(".")[0], []).append(name)
    found: dict[str, None] = {}
    for parent, members in groups.items():
        several = parent and len(members) >= _FEWEST
        found.update(dict.fromkeys([f"{parent}.*"] if several else members))
    return f"[{', '.join(_without_covered(list(found)))}]"


def _without_covered(patterns: list[str]) -> list[str]:
    """Return the patterns without those that another one matches; the top-level ones if many."""
    tops = list(dict.fromkeys(f"{pattern.partition('.')[0]}.*" for pattern in patterns))
    if len(patterns) > SHOWN and all("." in pattern for pattern in patterns):
        return tops
    return [
        own
        for own in patterns
        if not any(other != own and fnmatch.fnmatchcase(own, other) for other in patterns)
    ]


def _counted(names: Sequence[str]) -> str:
    return "1 tensor" if len(names) == 1 else f"{len(names)} tensors"


def listed(names: Sequence[str], separator: str = ", ") -> str:
    """Return the first few names, and how many more there are."""
    more = f"{separator}and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return f"{separator.join(names[:SHOWN])}{more}"
