"""Where the CPU seconds of `modelexport run` go, by process and work; a flame graph of each case.

    make profile                        all cases, docs/performance.md and docs/flame-graphs/
    python -m benchmarks.profiling --only cnn

Samples of py-spy, of all processes, on a machine without other load; needs permission to trace.
The imports that no export can avoid are measured in a process that does nothing else.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bed import s3
from bed.runs import Run
from benchmarks.cases import CASES, PYTHONPATH, Case
from benchmarks.page import put_table
from benchmarks.pipeline import ours, prepare
from benchmarks.work import parse, seconds_by_work

RATE = 50
LEAST_SECONDS = 0.15
"""Work that takes less is summed up."""
LEAST_PERCENT = 1.0
"""Frames of a flame graph that are narrower are left out: they have no room for a name."""
FRAME = re.compile(r'<g><title>.*?</title><rect [^>]*width="([\d.]+)%".*?</g>', re.DOTALL)
COMMAND = re.compile(r"(process \d+):&quot;[^<]*?(?= \([\d,]+ samples|</)")
SERVER = re.compile(r"(?<=>) main\([^<]*?(?= \([\d,]+ samples|</)")
"""The rest of the fork server's command: py-spy takes the semicolon in it for the next frame."""
TITLE = re.compile(r'(<text id="title"[^>]*>)[^<]*')
PICTURES = Path(__file__).resolve().parents[1] / "docs" / "flame-graphs"
IMPORTS = "import torch, torch.onnx, torch._dynamo, torch.export._trace, onnxscript, onnxruntime"


def main() -> int:
    """Profile the cases and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=[case.name for case in CASES], action="append")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/")
    arguments = parser.parse_args()
    cases = [case for case in CASES if not arguments.only or case.name in arguments.only]
    with Run.open("s3") as run, tempfile.TemporaryDirectory(dir="/var/tmp") as scratch:
        tables = [*_profiled(s3.start(run), cases, Path(scratch), draw=arguments.write)]
    text = f"Imports that no export can avoid: {_imports():.1f} s.\n\n" + "\n\n".join(tables)
    sys.stdout.write(text + "\n")
    if arguments.write:
        put_table("profile", text)
    return 0


def _profiled(
    server: s3.S3Server, cases: list[Case], scratch: Path, *, draw: bool
) -> Iterator[str]:
    environment = {**os.environ, **server.environment(), "PYTHONPATH": PYTHONPATH}
    for case in cases:
        command = [sys.executable, *ours(prepare(server, case, scratch))]
        raw = scratch / f"{case.name}.raw"
        started = time.perf_counter()
        _spy(["--format", "raw", "--threads", "--output", str(raw)], command, environment)
        wall = time.perf_counter() - started
        if draw:
            picture = PICTURES / f"{case.name}.svg"
            drawn = ["--format", "flamegraph", "--function", "--output", str(picture)]
            _spy(drawn, command, environment)
            picture.write_text(_trimmed(picture.read_text()))
        with raw.open() as lines:
            yield _table(case, seconds_by_work(list(parse(lines)), RATE), wall)


def _spy(options: list[str], command: list[str], environment: dict[str, str]) -> None:
    spy = Path(sys.executable).with_name("py-spy")
    whole = [str(spy), "record", "--subprocesses", "--rate", str(RATE), *options, "--", *command]
    subprocess.run(whole, env=environment, check=True, capture_output=True)


def _trimmed(drawing: str) -> str:
    """Return a flame graph without its narrow frames and this machine's command lines."""
    wide = FRAME.sub(lambda frame: frame[0] * (float(frame[1]) >= LEAST_PERCENT), drawing)
    named = SERVER.sub("fork server", COMMAND.sub(r"\1", wide))
    return TITLE.sub(r"\1modelexport run", named)


def _table(case: Case, seconds: dict[tuple[str, str], float], wall: float) -> str:
    rest = sum(spent for spent in seconds.values() if spent < LEAST_SECONDS)
    rows = [
        f"| {process} | {work} | {spent:.1f} |"
        for (process, work), spent in seconds.items()
        if spent >= LEAST_SECONDS
    ]
    return "\n".join(
        [
            f"{case.title}: {sum(seconds.values()):.1f} s of CPU in {wall:.1f} s, sampled"
            f" ([flame graph](flame-graphs/{case.name}.svg))",
            "",
            "| process | work | CPU seconds |",
            "|---|---|---|",
            *rows,
            f"| all | less than {LEAST_SECONDS} s each | {rest:.1f} |",
        ]
    )


def _imports() -> float:
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", IMPORTS], check=True, capture_output=True)
    return time.perf_counter() - started


if __name__ == "__main__":
    sys.exit(main())
