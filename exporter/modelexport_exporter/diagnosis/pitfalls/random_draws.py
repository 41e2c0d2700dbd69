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
from modelexport_exporter.core.user_frame import running_line
from modelexport_exporter.torch_internals.aten_mode import AtenMode, op_name

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
_MOST = 3


def find_draws(
    model: torch.nn.Module,
    run: Callable[[], Outputs],
    agree: Callable[[Outputs, Outputs], bool],
    code_dir: Path | None,
) -> Iterator[Pitfall]:
    """Yield the lines that draw random numbers on which the outputs of `run` depend."""
    first, drawn = _run(run, 0, code_dir)
    others = (_run(run, seed * _FAR, code_dir)[0] for seed in range(1, _RUNS)) if drawn else ()
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
    for source, operator in list(drawn.items())[:_MOST]:
        yield Pitfall(
            PitfallKind.NOT_DETERMINISTIC,
            f"forward draws random numbers ({operator}), and its outputs depend on them: "
            "a file cannot draw the same",
            source,
            "Take the noise as an input of forward, or make it once in __init__ with "
            "register_buffer.",
        )


def _of_dropouts(names: Sequence[str]) -> Pitfall:
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return Pitfall(
        PitfallKind.NOT_DETERMINISTIC,
        f"the dropout layer {names[0]}{more} is in train mode and draws random numbers",
        "",
        "Leave out model.training, so that the model is exported in eval mode.",
    )


def _run(
    run: Callable[[], Outputs], seed: int, code_dir: Path | None
) -> tuple[Outputs, dict[str, str]]:
    with torch.random.fork_rng(devices=[]), _Draws(seed, code_dir) as draws:
        outputs = run()
    return outputs, draws.drawn


class _Draws(AtenMode):
    """Notes the ATen ops that draw random numbers, and gives each another seed."""

    def __init__(self, seed: int, code_dir: Path | None) -> None:
        super().__init__()
        self.drawn: dict[str, str] = {}
        """The op by the user's line."""
        self._seed = seed
        self._code_dir = code_dir

    def on_op(self, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:  # noqa: ANN401
        if torch.Tag.nondeterministic_seeded in func.tags:
            line = running_line(self._code_dir)
            self.drawn.setdefault(line.source if line else "", op_name(func))
            torch.manual_seed(self._seed)
            self._seed += 1
        return func(*args, **kwargs)
