"""The sweep of torch's own operators: what it counts, and a few entries through the pipeline.

In a process of its own: torch's database freezes the flags of torch.backends for all of it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]


def swept(tmp_path: Path, *arguments: str) -> tuple[int, list[dict[str, object]], str]:
    """Run the sweep; return its exit status, its journal and its output."""
    journal = tmp_path / "journal.jsonl"
    done = subprocess.run(
        [sys.executable, "-m", "operators", "--journal", str(journal), *arguments],
        env={**os.environ, "PYTHONPATH": str(TESTS), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    lines = journal.read_text().splitlines() if journal.exists() else []
    return done.returncode, [json.loads(line) for line in lines], done.stdout + done.stderr


def outcomes(entry: dict[str, object]) -> set[str]:
    calls = entry["calls"]
    assert isinstance(calls, list)
    return {outcome for _, outcome, _, _ in calls}


@pytest.mark.timeout(600)
def test_operators_are_right_in_the_pipeline(tmp_path: Path) -> None:
    names = ("complex", "bernoulli")
    static = ("--dtypes", "float32", "--no-dynamic")
    status, entries, output = swept(tmp_path, "--only", *names, *static)
    assert status == 0, output
    assert {str(entry["name"]): outcomes(entry) for entry in entries} == {
        "bernoulli": {"no elements", "random"},
        "complex": {"no elements", "right"},
    }
    again, entries_again, output = swept(tmp_path, "--only", *names, *static)
    assert (again, entries_again) == (0, entries), "an interrupted run continues"
    assert " s\n" not in output, "nothing runs again"


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("name", "form"),
    [
        # Takes and returns complex numbers: two inputs, and the parts of the answer.
        ("mul", ("--dtypes", "complex64")),
        # The index has values up to the size: the sizes are 5, 6 and 7.
        ("gather", ("--dtypes", "float32", "--dynamic")),
    ],
)
@pytest.mark.nightly
def test_a_form_of_calls_is_right(tmp_path: Path, name: str, form: tuple[str, ...]) -> None:
    status, (entry,), output = swept(tmp_path, "--only", name, *form, "--samples", "2")
    assert status == 0, output
    assert "right" in outcomes(entry)
    assert outcomes(entry) <= {"right", "no dim", "no elements"}


@pytest.mark.nightly
def test_values_are_drawn_anew_with_each_seed() -> None:
    script = """
from operators.module import drawn

places = [("add", "float32", 1, None), ("nn.functional.max_unpool2d.grad", "float32", 3, None)]
first, again, other = (drawn(places, {}, seed) for seed in (1, 1, 2))
assert all(first[name].equal(again[name]) for name in first)
assert not first["x0"].equal(other["x0"])
assert [x.shape for x in first.values()] == [x.shape for x in other.values()]
"""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script],
        env={**os.environ, "PYTHONPATH": str(TESTS), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
