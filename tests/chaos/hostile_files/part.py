"""The part `hostile_files` of `make chaos`: every hostile file through the real commands."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from chaos.draw import drawn
from chaos.journal import Row

if TYPE_CHECKING:
    from chaos.hostile_files.trial import Hostile, Outcome

TITLE = "Hostile checkpoints and ONNX files"
TEXT = """\
Files as somebody else may send them, made by functions of a seed: pickles that call something,
take memory or never end; lies of safetensors and of zip archives; code in TorchScript and
ExportedPrograms; links and odd directories; ONNX files that lead out of their directory, claim
terabytes, or call themselves; honest files that were cut off, overwritten, or changed by a bit.

Checkpoints go through the run of a pod, ONNX files through `modelexport inspect` and a run of
mode Verify. A file held if the command ended with a reason that names what is wrong with it,
within 60 s and 1.5 GB of address space beyond what the process had; if no code of it ran (it
would leave a canary where also the sandbox writes), and if nothing was written outside of the run's
own directory. A change that no format detects, such as a bit of a weight, may end in an artifact.
"""
Try = Callable[["Hostile"], "Outcome"]


def run(count: int | None, seed: int) -> Iterable[Row]:
    """Try `count` files of each class, or all; yield a row for each class."""
    from chaos.hostile_files import archives, damaged, honest, onnx_files, pickles, tensors, trial

    os.environ["OMP_NUM_THREADS"] = "1"
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        files = honest.make(root / "honest")
        state = files / "state.pt"

        def checkpoint(hostile: Hostile) -> Outcome:
            return trial.try_checkpoint(hostile, root)

        def verified(hostile: Hostile) -> Outcome:
            return trial.try_verification(hostile, root, state)

        def inspected(hostile: Hostile) -> Outcome:
            return trial.try_inspection(hostile, root)

        # The first run starts the server that imports torch.
        checkpoint(next(iter(tensors.hostile())))
        classes: list[tuple[str, Iterable[Hostile], Try]] = [
            ("safetensors that lie", tensors.hostile(), checkpoint),
            ("archives and directories", archives.hostile(), checkpoint),
            ("pickles", pickles.hostile(), checkpoint),
            ("damaged checkpoints", damaged.hostile(files, seed), checkpoint),
            ("ONNX files, inspected", onnx_files.hostile(seed), inspected),
            ("ONNX files, verified", onnx_files.hostile(seed), verified),
        ]
        for name, made, attempt in classes:
            yield row(name, [attempt(hostile) for hostile in drawn(list(made), count, seed)])


def row(name: str, outcomes: Sequence[Outcome]) -> Row:
    """Count the outcomes of a class."""
    for outcome in outcomes:
        if not outcome.held:
            print(outcome, file=sys.stderr, flush=True)
    slowest = max(outcome.seconds for outcome in outcomes)
    taken = sum(outcome.ended == "Succeeded" for outcome in outcomes)
    return Row(
        "hostile_files",
        name,
        tried=len(outcomes),
        held=sum(outcome.held for outcome in outcomes),
        wrong=sum(bool(outcome.problems) for outcome in outcomes),
        leaked=sum(bool(outcome.leaks) for outcome in outcomes),
        remarks=f"{taken} taken, whose change no format detects; {slowest:.0f} s at most",
    )
