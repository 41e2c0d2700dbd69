"""Whether blame names the node that was damaged: python -m mutants.blamed [--each N].

A node counts as damaged if it differs from all nodes of the undamaged file, or reads a weight or a
constant that was damaged. Where a node got lost, an Identity stands in its place: whoever computes
what it passes on counts, too, for a file without it would have no other node there.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import Future, as_completed
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import onnx

from modelexport_api.status import Verdict
from modelexport_exporter.core.blame import Blame
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.onnx_file.read_back import read_back
from modelexport_exporter.workers.verify import verify_model
from models.exporting import silent
from mutants.crew import processes
from mutants.mutations import Mutant, damaged
from mutants.plan import EACH, after_equivalent, plan
from mutants.study import Study, survey
from mutants.subjects import SUBJECTS

EXACT, AMONG, NEXT, ELSEWHERE, NONE = "exact", "one of a group", "next to it", "elsewhere", "none"


@dataclass(frozen=True)
class Blamed:
    """What was said of one damage."""

    subject: str
    mutant: Mutant
    place: str
    said: Blame
    nodes: tuple[str, ...]
    """The damaged ones."""


def damaged_nodes(before: onnx.ModelProto, after: onnx.ModelProto) -> list[onnx.NodeProto]:
    """Return the nodes of the damaged file that compute something else."""
    known = {node.SerializeToString() for node in before.graph.node}
    weights = {weight.name: weight.SerializeToString() for weight in before.graph.initializer}
    other = {
        weight.name
        for weight in after.graph.initializer
        if weights.get(weight.name) != weight.SerializeToString()
    }
    found: list[onnx.NodeProto] = []
    for node in after.graph.node:
        if node.SerializeToString() not in known and node.op_type == "Constant":
            other.update(node.output)
        elif node.SerializeToString() not in known or other.intersection(node.input):
            found.append(node)
    lost = {name for node in found if node.op_type == "Identity" for name in node.input}
    found += [node for node in after.graph.node if lost.intersection(node.output)]
    return found or _last(before, after)


def _last(before: onnx.ModelProto, after: onnx.ModelProto) -> list[onnx.NodeProto]:
    """Return the nodes whose values became outputs of the file."""
    outputs = {value.name for value in after.graph.output}
    outputs -= {value.name for value in before.graph.output}
    return [node for node in after.graph.node if outputs.intersection(node.output)]


def place_of(said: Blame, model: onnx.ModelProto, nodes: Sequence[onnx.NodeProto]) -> str:
    """Return where the node that was named is, as seen from the damaged ones."""
    names = {node.name for node in nodes}
    if not said.node:
        return NONE
    if said.node in names:
        return EXACT
    if names.intersection(said.among):
        return AMONG
    inputs = {name for node in nodes for name in node.input if name}
    outputs = {name for node in nodes for name in node.output if name}
    beside = {
        node.name
        for node in model.graph.node
        if outputs.intersection(node.input) or inputs.intersection(node.output)
    }
    return NEXT if said.node in beside else ELSEWHERE


def blame_of(study: Study, mutant: Mutant) -> Blamed | None:
    """Return what is said of a damage; None if the file is not refused for its values."""
    path = study.write(mutant)
    try:
        facts = read_back(path)
        file = replace(
            study.converted,
            model_path=path,
            inputs=facts.inputs,
            outputs=facts.outputs,
            op_counts=facts.op_counts,
        )
        outcome = verify_model(study.task, file, silent)
    except ExportFailure:
        return None
    if outcome.summary.verdict is not Verdict.MISMATCH:
        return None
    said = outcome.blame or Blame()
    model = damaged(study.model, study.observed, mutant)
    nodes = damaged_nodes(study.model, model)
    place = place_of(said, model, nodes)
    return Blamed(
        study.subject.name,
        mutant,
        place,
        replace(said, repro=()),
        tuple(f"{node.op_type} {node.name}" for node in nodes),
    )


def blames(name: str, directory: Path, queue: Sequence[Mutant], wanted: int) -> list[Blamed]:
    """Return what is said of as many damages of a subject."""
    study = Study(name, directory)
    cases = study.cases()
    found: list[Blamed] = []
    left = list(queue)
    while left and len(found) < wanted:
        mutant, *left = left
        changed = study.change(mutant, cases)
        said = blame_of(study, mutant) if changed is not None and changed.excess > 1 else None
        if said is None:
            left = after_equivalent(mutant, left)
        else:
            found.append(said)
    return found


def main() -> int:
    """Run the study and print it."""
    parser = argparse.ArgumentParser(prog="python -m mutants.blamed", description=__doc__)
    parser.add_argument("--each", type=int, default=EACH, help="damages of a model")
    parser.add_argument("--only", nargs="*")
    arguments = parser.parse_args()
    names = arguments.only or [subject.name for subject in SUBJECTS]
    places: Counter[str] = Counter()
    with TemporaryDirectory(prefix="blamed-") as place, processes() as pool:
        directories = [Path(place) / name for name in names]
        surveys = dict(zip(names, pool.map(survey, names, directories), strict=True))
        queues = plan(surveys)
        futures: list[Future[Any]] = [
            pool.submit(blames, name, directory, queues[name], arguments.each)
            for name, directory in zip(names, directories, strict=True)
        ]
        for future in as_completed(futures):
            for one in future.result():
                places[one.place] += 1
                if one.place != EXACT:
                    _show(one)
            print(dict(places), flush=True)
    return 0


def _show(one: Blamed) -> None:
    said = one.said.sentence() or one.said.why_not
    print(f"{one.subject}: {one.mutant.name}: {one.place}")
    print(f"    damaged: {', '.join(one.nodes)}")
    print(f"    said: {said}", "(proven)" if one.said.proven else "", flush=True)


if __name__ == "__main__":
    sys.exit(main())
