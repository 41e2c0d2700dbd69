"""A few of the mutants of docs/reliability.md: readers, API server and operator."""

from __future__ import annotations

from pathlib import Path

import pytest

from bed.control_plane import ControlPlane
from chaos.manifests import fleet
from chaos.manifests.agreement import said
from chaos.manifests.judge import answer
from chaos.manifests.mutants import FAMILIES, as_text, mutant
from chaos.manifests.mutations import KINDS
from chaos.manifests.part import against, readers
from chaos.manifests.server import Server
from chaos.manifests.texts import TEXT_KINDS
from chaos.manifests.valid import is_trigger, valid_manifests

SEEDS = range(100)
SEEDS_OF_CLUSTER = range(50)
EXPORT = next(one.document for one in valid_manifests() if not is_trigger(one.document))


def test_each_valid_manifest_is_accepted(tmp_path: Path) -> None:
    path = tmp_path / "m.yaml"
    names = {one.name.partition(":")[0].partition("/")[0] for one in valid_manifests()}
    assert {"examples", "docs", "tests"} <= names
    for one in valid_manifests():
        path.write_bytes(as_text(one.document))
        found = answer(path)
        assert found.accepted is not None, (one.name, found.message)
        assert found.broken == [], one.name


def test_a_seed_always_makes_the_same_mutant() -> None:
    assert [mutant(seed) for seed in range(20)] == [mutant(seed) for seed in range(20)]
    assert len({mutant(seed).data for seed in range(20)}) == 20


def test_each_kind_of_mutation_belongs_to_one_family() -> None:
    of_families = [kind for kinds in FAMILIES.values() for kind in kinds]
    assert sorted(of_families) == sorted([*KINDS, *TEXT_KINDS])


def test_readers_accept_or_refuse_as_promised() -> None:
    rows = [*readers(SEEDS)]
    assert sum(row.tried for row in rows) == len(SEEDS)
    assert [row for row in rows if row.held != row.tried] == []


def test_a_broken_promise_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The judge itself: a reader that raises, that obeys a terminal, that names no field."""
    path = tmp_path / "m.yaml"
    path.write_bytes(as_text(EXPORT))
    for error, words in [
        (TypeError("unhashable"), "TypeError: unhashable"),
        (_manifest_error("spec: \x1b[2J"), "not printable"),
        (_manifest_error("source: wrong"), "names none of"),
        (_manifest_error("spec: wrong\n"), "an empty line"),
    ]:

        def refuse(*_: object, error: Exception = error, **__: object) -> None:
            raise error

        monkeypatch.setattr("chaos.manifests.judge.export_in", refuse)
        assert words in "; ".join(answer(path, (("spec", "inputs", 0),)).broken)


def _manifest_error(text: str) -> Exception:
    from modelexport_api.documents import ManifestError

    error = ManifestError("")
    error.args = (text,)
    return error


@pytest.mark.control_plane
def test_api_server_and_operator_agree(control_plane: ControlPlane, namespace: str) -> None:
    fleet.install(control_plane)
    with fleet.operator(control_plane, namespace) as replica:
        server = Server(control_plane, namespace)
        agreement, conditions = against(server, replica, SEEDS_OF_CLUSTER)
    assert agreement.held == agreement.tried == len(SEEDS_OF_CLUSTER)
    assert conditions.held == conditions.tried > 5


def test_what_is_meant_for_a_cluster_names_no_file_of_this_machine(tmp_path: Path) -> None:
    path = tmp_path / "m.yaml"
    spec = {**EXPORT["spec"], "source": {"uri": "file://./model.pt"}}
    path.write_bytes(as_text({**EXPORT, "spec": spec}))
    assert answer(path).accepted is not None
    assert "a file of this machine" in said(path).message
