"""Which process a sampled stack belongs to, and what it was doing there. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

PROCESSES = (
    ("exporter", "modelexport_exporter/workers/export.py"),
    ("reference", "modelexport_exporter/workers/reference.py"),
    ("judge", "modelexport_exporter/workers/judge.py"),
    ("fork server", "modelexport_exporter/workers/preload.py"),
    ("supervisor", "modelexport"),
)
"""Each with a part of a frame that no other process before it has."""
_IMPORT = "_find_and_load (<frozen importlib"
WORKS = (
    ("imports of the user's libraries", "import_shared_libraries"),
    ("imports", _IMPORT),
    ("onnxruntime", "Session.run (modelexport_exporter"),
    ("onnxruntime", "Session.__init__ (modelexport_exporter"),
    ("writing the file", "write_model (modelexport_exporter"),
    ("loading the checkpoint", "modelexport_exporter/checkpoint/"),
    ("capture", "capture (modelexport_exporter/convert/capture.py"),
    ("translation", "translate (modelexport_exporter/convert/dynamo.py"),
    ("optimization", "finish (modelexport_exporter/convert/dynamo.py"),
    ("contract", "check (modelexport_exporter/workers/export.py"),
    ("eager, while the file is made", "run_early (modelexport_exporter"),
    ("eager, to compare", "LocalOriginal.run (modelexport_exporter"),
    ("eager, to see what it takes", "EagerReference.accepts (modelexport_exporter"),
    ("eager in other arithmetic", "LocalOriginal.perturbed (modelexport_exporter"),
    ("dtypes of its arithmetic", "EagerReference.computed_in (modelexport_exporter"),
    ("treatment of NaN", "EagerReference.treatment_of_nan (modelexport_exporter"),
    ("search for further inputs", "seek (modelexport_exporter"),
    ("shapes of the original", "modelexport_exporter/verification/shapes/"),
    ("digests of the file", "PinnedFiles._read (modelexport_exporter"),
    ("drawing samples", "modelexport_exporter/sampling/"),
    ("drawing samples", "modelexport_exporter/verification/samples/"),
    ("comparing", "modelexport_exporter/verification/"),
    ("the store", "modelexport_exporter/storage/"),
    ("reports", "modelexport_exporter/report/"),
)
"""What is done, with a part of a frame: the first that a stack has."""
OTHER = "other"


@dataclass(frozen=True)
class Stack:
    """A stack, outermost frame first, and how often it was seen."""

    process: str
    """What the sampler calls it: with its number."""
    frames: tuple[str, ...]
    count: int


def parse(lines: Iterable[str]) -> Iterator[Stack]:
    """Yield the stacks of py-spy's raw format, of a process and all that it started."""
    for line in lines:
        stack, _, count = line.rstrip("\n").rpartition(" ")
        frames = stack.split(";")
        processes = [frame for frame in frames if frame.startswith("process ")]
        own = tuple(frame for frame in frames if not frame.startswith("process "))
        if processes:
            yield Stack(processes[-1], own, int(count))


def seconds_by_work(stacks: Sequence[Stack], rate: int) -> dict[tuple[str, str], float]:
    """Return the CPU seconds of each work of each process. `rate`: samples per second."""
    processes = {process: _kind(stacks, process) for process in {s.process for s in stacks}}
    found: Counter[tuple[str, str]] = Counter()
    for stack in stacks:
        found[processes[stack.process], _work(stack)] += stack.count
    return {key: count / rate for key, count in found.most_common()}


def _kind(stacks: Sequence[Stack], process: str) -> str:
    frames = [frame for stack in stacks if stack.process == process for frame in stack.frames]
    return next((name for name, part in PROCESSES if any(part in f for f in frames)), OTHER)


def _work(stack: Stack) -> str:
    for work, part in WORKS:
        if any(part in frame for frame in stack.frames):
            return work
    return OTHER
