"""A seed makes one model, its file reads back, and eager answers at every declared size."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch

from fuzz import templates
from fuzz.case import read, sizes_of
from fuzz.feeds import WAYS, constants, draw
from fuzz.generate import Generator, generate, runs
from fuzz.program import Program

GROUPS = ("POINTWISE", "INTEGERS", "BOOLEANS", "REDUCTIONS", "STRUCTURE", "SIZES")


@pytest.mark.parametrize("seed", range(0, 60, 7))
def test_a_seed_always_makes_the_same_model_and_it_runs(seed: int) -> None:
    case = generate(seed)
    assert case == generate(seed)
    assert runs(case)
    ast = compile(case.source, "model.py", "exec")
    assert ast is not None


def test_a_file_reads_back(tmp_path: Path) -> None:
    case = generate(3)
    path = tmp_path / "model.py"
    module = case.module(path)
    again = read(path)
    assert (again.source, again.inputs, again.dims) == (case.source, case.inputs, case.dims)
    assert isinstance(module, torch.nn.Module)


def test_all_kinds_of_models_occur() -> None:
    texts = [generate(seed).text for seed in range(150)]
    for word in ("if ", "self.layer", ".shape[0]", "float64", "int64", '"range"', "torch.where"):
        assert sum(word in text for text in texts) >= 3, word


@pytest.mark.parametrize("group", GROUPS)
def test_every_template_runs_in_some_program(group: str) -> None:
    left = set(getattr(templates, group))
    for seed in range(600):
        generator = Generator(seed)
        for _ in range(25):
            generator.grow()
        for template in [*left]:
            if _grows(generator, template):
                left.discard(template)
        if not left:
            break
    assert left == set()


def test_a_line_stays_only_if_it_runs_at_every_probe() -> None:
    program = Program.begin([{"x": torch.zeros(2, 3)}, {"x": torch.zeros(4, 3)}])
    reads = frozenset({"x"})
    assert not program.try_line("y", "y = x[3]", reads)
    assert not program.try_line("y", "y = x if x.shape[0] == 2 else x[0]", reads)
    assert not program.try_line("y", "y = x / 0", reads)
    assert program.try_line("y", "y = x[1]", reads)
    assert program.static_size("x", 0) is None
    assert program.static_size("x", 1) == 3
    assert [statement.name for statement in program.needed(["y"])] == ["y"]


def test_sizes_are_all_where_they_are_few_else_ends_and_equal_ones() -> None:
    assert [entry["n"] for entry in sizes_of({"n": (2, 9)}, 0)] == [*range(2, 10)]
    many = sizes_of({"n": (1, 100), "m": (3, 50)}, 0)
    for sizes in ((1, 3), (1, 50), (100, 3), (100, 50), (3, 3), (50, 50)):
        assert {"n": sizes[0], "m": sizes[1]} in many


def test_values_stay_in_the_declared_range_and_reach_its_ends() -> None:
    entry = {"name": "x", "dtype": "int64", "shape": ["n"], "range": [3, 90]}
    drawn = [draw([entry], {"n": 50}, 1, way, [42.0, 1000.0])["x"] for way in WAYS]
    assert min(int(values.min()) for values in drawn) == 3
    assert max(int(values.max()) for values in drawn) == 90
    assert all(42 in values for values in drawn[WAYS.index("named") :][:1])


def test_numbers_of_forward_are_found_with_their_neighbours() -> None:
    found = constants("a = 5\n\n    def forward(self, x1):\n        return x1[:3] > -0.5\n")
    assert found == [-1.5, -0.5, 0.5, 2.0, 3.0, 4.0]


def _grows(generator: Generator, template: str) -> bool:
    from fuzz.generate import Unfilled

    try:
        text, reads = generator._filled(template)
    except Unfilled:
        return False
    assert not re.search(r"[{}«»]", text), text
    return generator.program.try_line("trial", f"trial = {text}", reads)
