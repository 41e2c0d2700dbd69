"""Mutants against the product's readers, a real API server and the real operator."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from chaos.journal import JOURNALS, Row

PART = "manifests"
TITLE = "Wrong manifests"
TEXT = """\
Each valid manifest of the repository (examples, pages, tests; both kinds) is changed in one to
three places that a seed draws: another type, null, an empty value, numbers beyond 64 bits, NaN,
control characters and half surrogates, 300,000 characters, 300 levels, 5,000 entries, fields that
are unknown, missing or misspelled, each limit of the schema, expressions, templates, globs, URIs
with credentials and `..`, pod templates that weaken the pod; and the text: aliases that multiply,
tags, broken bytes.

The readers of `modelexport run`, `render` and the operator either accept a file, and then what
follows (Job, condition, export of a trigger) is decided without an exception, and what was read
reads back equal from JSON and YAML; or they refuse it with at most 50 lines of at most 1,000
printable characters that name the field. Both within 1 s of CPU time for 120 KiB (the most that a
pod takes) and 20,000 values, and within 256 MiB.

The first 500 files are sent to a real API server, which validates strictly, as for kubectl. What
it accepts and the product does not, or the other way round, is a difference; the intended ones
are listed in `tests/chaos/manifests/agreement.py`. The operator runs on that control plane
meanwhile: each object that was stored gets a condition, those that the product refuses
`InvalidManifest` or `Ready` False, and nothing unexpected is logged."""
COUNT = 3000
COUNT_OF_CLUSTER = 500


def run(count: int | None, seed: int) -> Iterable[Row]:
    """Try this many mutants, from a seed on."""
    seeds = range(seed, seed + (count or COUNT))
    yield from readers(seeds)
    yield from cluster(seeds[:COUNT_OF_CLUSTER])


def readers(seeds: Iterable[int]) -> Iterator[Row]:
    """Yield a row for each family of mutations."""
    from chaos.manifests.judge import answer
    from chaos.manifests.mutants import COMBINED, FAMILIES, mutant

    tried, wrong, accepted = Counter[str](), Counter[str](), Counter[str]()
    with TemporaryDirectory(prefix="mutants-") as directory:
        path = Path(directory, "m.yaml")
        for seed in seeds:
            one = mutant(seed)
            path.write_bytes(one.data)
            found = answer(path, one.places if len(one.places) == len(one.kinds) else ())
            tried[one.family] += 1
            accepted[one.family] += found.accepted is not None
            if found.broken:
                wrong[one.family] += 1
                report(seed, found.broken)
    for family in (*FAMILIES, COMBINED):
        if tried[family]:
            yield Row(
                PART,
                f"readers: {family}",
                tried[family],
                tried[family] - wrong[family],
                wrong=wrong[family],
                remarks=f"{accepted[family]} accepted",
            )


def cluster(seeds: Iterable[int]) -> Iterator[Row]:
    """Yield a row for the agreement with the API server, and one for the operator."""
    from bed import beds
    from chaos.manifests import fleet
    from chaos.manifests.server import Server

    with beds.control_plane_running() as plane:
        fleet.install(plane)
        plane.create_namespace("mutants")
        with fleet.operator(plane, "mutants") as replica:
            yield from against(Server(plane, "mutants"), replica, seeds)


def against(server: object, replica: object, seeds: Iterable[int]) -> Iterator[Row]:
    """Yield the rows of a server and an operator that run."""
    from chaos.manifests import agreement, fleet
    from chaos.manifests.mutants import mutant
    from chaos.manifests.server import CREATED, Server
    from cluster.operator.replica import Replica

    assert isinstance(server, Server)
    assert isinstance(replica, Replica)
    intended: defaultdict[str, int] = defaultdict(int)
    stored: dict[str, tuple[int, bool, bool]] = {}
    tried = wrong = 0
    with TemporaryDirectory(prefix="mutants-") as directory:
        path = Path(directory, "m.yaml")
        for seed in seeds:
            one = mutant(seed)
            path.write_bytes(one.data)
            here = agreement.said(path)
            there = server.create(one.data, trigger=one.is_trigger)
            tried += 1
            difference = agreement.compare(here, there)
            if difference.startswith("= "):
                intended[difference.removeprefix("= ")] += 1
            elif difference:
                wrong += 1
                report(seed, [difference])
            if there.status == CREATED:
                refused = agreement.is_for_operator(difference)
                stored[there.body["metadata"]["name"]] = seed, one.is_trigger, refused
    listed = "; ".join(f"{why}: {times}" for why, times in sorted(intended.items()))
    remarks = f"{len(stored)} stored; intended differences: {listed or 'none'}"
    yield Row(
        PART, "agreement with the API server", tried, tried - wrong, wrong=wrong, remarks=remarks
    )
    found = fleet.await_conditions(server, {name: kind for name, (_, kind, _) in stored.items()})
    broken = 0
    for name, body in found.items():
        seed, _, refused = stored[name]
        problems = [*fleet.problems(body, refused=refused)]
        broken += bool(problems)
        if problems:
            report(seed, problems)
    log = fleet.trouble(replica)
    if log:
        report(-1, log[:20])
    lost = len(log)
    yield Row(
        PART,
        "the operator gives each stored object a condition",
        len(stored),
        max(0, len(stored) - broken - lost),
        wrong=broken + lost,
        remarks=f"{len(stored) - len(found)} deleted by their ttlSecondsAfterFinished",
    )


def report(seed: int, problems: Iterable[str]) -> None:
    """Keep what was not as promised, to be read."""
    line = json.dumps({"seed": seed, "problems": [*problems]})
    print(line)
    JOURNALS.mkdir(parents=True, exist_ok=True)
    with (JOURNALS / f"{PART}_wrong.jsonl").open("a") as file:
        file.write(line + "\n")
