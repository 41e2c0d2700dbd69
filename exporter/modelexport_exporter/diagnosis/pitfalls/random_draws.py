"""Random numbers that forward draws, seen when it runs: also those of libraries, also seeded ones.

A file cannot draw what PyTorch draws. Where forward sets the seed itself, two runs agree, so each
draw gets a seed of its own here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from modelexport_exporter.core.pitfall import Pitfall
from modelexport_exporter.diagnosis.pitfalls.noted_ops import NotedOps
from modelexport_exporter.diagnosis.pitfalls.train_mode import drawing_in_train_mode

Outputs = list[torch.Tensor]

_FAR = 1_000_003
_RUNS = 5
"""Choices among few may agree by chance."""


def find_draws(
    model: torch.nn.Module,
    run: Callable[[], Outputs],
    agree: Callable[[Outputs, Outputs], bool],
    code_dir: Path | None,
    *,
    trains: bool = False,
) -> Iterator[Pitfall]:
    """Yield what draws random numbers on which the outputs of `run` depend.

    `trains`: whether the user declares that the model is in train mode.
    """

    def settles() -> bool:
        return _all_agree(run, agree, code_dir)[0]

    settled, draws = _all_agree(run, agree, code_dir)
    if settled:
        return
    of_mode = drawing_in_train_mode(model, settles, declared=trains)
    if of_mode is not None:
        yield of_mode
        return
    yield from draws.pitfalls(
        "forward draws random numbers ({}), and its outputs depend on them: "
        "a file cannot draw the same",
        "Take the noise as an input of forward, or make it once in __init__ with register_buffer.",
    )


def _all_agree(
    run: Callable[[], Outputs], agree: Callable[[Outputs, Outputs], bool], code_dir: Path | None
) -> tuple[bool, _Draws]:
    """Return whether runs with other random numbers agree, and the draws of the first."""
    first, draws = _run(run, 0, code_dir)
    seeds = range(1, _RUNS) if draws.noted else ()
    others = (_run(run, seed * _FAR, code_dir)[0] for seed in seeds)
    return all(agree(first, other) for other in others), draws


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
