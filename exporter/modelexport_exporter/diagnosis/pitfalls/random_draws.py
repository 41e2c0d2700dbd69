"""Random numbers that forward draws, seen when it runs: also those of libraries, also seeded ones.

A file cannot draw what PyTorch draws. Where forward sets the seed itself, two runs agree, so each
draw gets a seed of its own here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from modelexport_exporter.core.pitfall import Pitfall, PitfallKind
from modelexport_exporter.diagnosis.pitfalls.noted_ops import NotedOps

Outputs = list[torch.Tensor]

_DROPOUTS = (
    torch.nn.Dropout,
    torch.nn.Dropout1d,
    torch.nn.Dropout2d,
    torch.nn.Dropout3d,
    torch.nn.AlphaDropout,
    torch.nn.FeatureAlphaDropout,
)
_FAR = 1_000_003
_RUNS = 5
"""Choices among few may agree by chance."""


def find_draws(
    model: torch.nn.Module,
    run: Callable[[], Outputs],
    agree: Callable[[Outputs, Outputs], bool],
    code_dir: Path | None,
) -> Iterator[Pitfall]:
    """Yield the lines that draw random numbers on which the outputs of `run` depend."""
    first, draws = _run(run, 0, code_dir)
    seeds = range(1, _RUNS) if draws.noted else ()
    others = (_run(run, seed * _FAR, code_dir)[0] for seed in seeds)
    if all(agree(first, other) for other in others):
        return
    dropouts = [
        name
        for name, part in model.named_modules()
        if isinstance(part, _DROPOUTS) and part.training and part.p > 0
    ]
    if dropouts:
        yield _of_dropouts(dropouts)
        return
    yield from draws.pitfalls(
        "forward draws random numbers ({}), and its outputs depend on them: "
        "a file cannot draw the same",
        "Take the noise as an input of forward, or make it once in __init__ with register_buffer.",
    )


def _of_dropouts(names: Sequence[str]) -> Pitfall:
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return Pitfall(
        PitfallKind.NOT_DETERMINISTIC,
        f"the dropout layer {names[0]}{more} is in train mode and draws random numbers",
        "",
        "Leave out model.training, so that the model is exported in eval mode.",
    )


def _run(run: Callable[[], Outputs], seed: int, code_dir: Path | None) -> tuple[Outputs, _Draws]:
    with torch.random.fork_rng(devices=[]), _Draws(seed, code_dir) as draws:
        return run(), draws


class _Draws(NotedOps):
    """Notes the ATen ops that draw random numbers, and gives each another seed."""

    def __init__(self, seed: int, code_dir: Path | None) -> None:
        super().__init__(code_dir)
        self._seed = seed

    def on_op(self, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:  # noqa: ANN401
        if torch.Tag.nondeterministic_seeded in func.tags:
            self.note(func)
            torch.manual_seed(self._seed)
            self._seed += 1
        return func(*args, **kwargs)
