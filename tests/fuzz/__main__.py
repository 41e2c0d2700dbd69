"""Run random models and networks of NNSmith: `python -m fuzz --help`."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from fuzz.bench import Outcome, Result, check
from fuzz.case import read
from fuzz.journal import run_seeds
from fuzz.networks import generate_network
from fuzz.page import PAGE, render
from modelexport_exporter.isolation.server import start_server

JOURNALS = Path("build/fuzz")


def main() -> int:
    """Run the cases; return 1 if one is wrong."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--cases", type=int, default=5000)
    parser.add_argument("--networks", type=int, default=0, help="networks of NNSmith, from seed 0")
    parser.add_argument("--page", action="store_true", help="write docs/fuzzing.md")
    parser.add_argument("--only", nargs="*", type=Path, help="files of models, run one by one")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    start_server(["warm_workers"])
    if arguments.only:
        return max(_one(path) for path in arguments.only)
    seeds = range(arguments.seed, arguments.seed + arguments.cases)
    models = run_seeds(seeds, JOURNALS / "models.jsonl", print_result)
    numbers = range(arguments.networks)
    networks = run_seeds(numbers, JOURNALS / "networks.jsonl", print_result, generate_network)
    both = (*models, *networks)
    print(dict(Counter(result.outcome.value for result in both)))
    if arguments.page:
        PAGE.write_text(render(models, networks))
    return int(any(result.outcome is Outcome.WRONG for result in both))


def _one(path: Path) -> int:
    with TemporaryDirectory(prefix="fuzz-") as place:
        result = check(read(path.resolve()), Path(place))
    print(f"{path}: ", end="")
    print_result(result)
    return int(result.outcome is Outcome.WRONG)


def print_result(result: Result) -> None:
    """Print how a case ended."""
    text = result.text.splitlines()[0][:300] if result.text else ""
    print(f"{result.seed} {result.outcome} {result.by} {result.seconds} s {text}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
