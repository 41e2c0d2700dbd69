"""Random models end right or refused, never wrong, and docs/fuzzing.md says how.

By default six seeds of the page run again; at night 5,000 cases.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fuzz.bench import Outcome, check
from fuzz.generate import generate
from fuzz.journal import run_seeds
from fuzz.networks import generate_network
from fuzz.page import PAGE, parse

SEEDS = (1, 2, 5, 8, 10, 14)
"""Five that are right, by their values, sizes and layers; one that branches on values."""
NETWORK_SEEDS = (0, 1, 29)
"""Two that are right, and one with an operator that onnxruntime lacks."""
CASES = int(os.environ.get("MODELEXPORT_FUZZ_CASES", "5000"))
MOST = 0.75
"""The share of cases that is not refused, at least."""


@pytest.mark.usefixtures("torch_workers")
@pytest.mark.parametrize("seed", SEEDS)
def test_a_random_model_ends_as_the_page_says(seed: int, tmp_path: Path) -> None:
    models, _ = parse(PAGE.read_text())
    result = check(generate(seed), tmp_path)
    assert result.outcome is not Outcome.WRONG, result.text
    expected = models.seeds.get(seed)
    assert (result.by if result.outcome is Outcome.REFUSED else None) == expected, result.text


@pytest.mark.usefixtures("torch_workers")
@pytest.mark.parametrize("seed", NETWORK_SEEDS)
def test_a_network_of_nnsmith_ends_as_the_page_says(seed: int, tmp_path: Path) -> None:
    _, networks = parse(PAGE.read_text())
    result = check(generate_network(seed), tmp_path)
    assert result.outcome is not Outcome.WRONG, result.text
    expected = networks.seeds.get(seed)
    assert (result.by if result.outcome is Outcome.REFUSED else None) == expected, result.text


@pytest.mark.parametrize("part", [0, 1], ids=["models", "networks"])
def test_the_page_reports_every_seed_of_its_range(part: int) -> None:
    page = parse(PAGE.read_text())[part]
    assert set(page.outcomes) == set(Outcome)
    assert sum(page.outcomes.values()) == page.last - page.first + 1
    refused = [seed for seed, reason in page.seeds.items() if reason != Outcome.WRONG]
    assert len(refused) == page.outcomes[Outcome.REFUSED]
    assert page.outcomes[Outcome.RIGHT] >= MOST * sum(page.outcomes.values())


@pytest.mark.nightly
@pytest.mark.timeout(6 * 3600)
@pytest.mark.usefixtures("torch_workers")
def test_none_of_5000_random_models_is_published_wrong(tmp_path: Path) -> None:
    results = run_seeds(range(CASES), tmp_path / "models.jsonl")
    assert len(results) == CASES
    assert [result for result in results if result.outcome is Outcome.WRONG] == []
    right = sum(result.outcome is Outcome.RIGHT for result in results)
    assert right >= MOST * CASES


@pytest.mark.nightly
@pytest.mark.timeout(2 * 3600)
@pytest.mark.usefixtures("torch_workers")
def test_none_of_1000_networks_of_nnsmith_is_published_wrong(tmp_path: Path) -> None:
    cases = CASES // 5
    results = run_seeds(range(cases), tmp_path / "networks.jsonl", make=generate_network)
    assert len(results) == cases
    assert [result for result in results if result.outcome is Outcome.WRONG] == []
    assert sum(result.outcome is Outcome.RIGHT for result in results) >= MOST * cases
