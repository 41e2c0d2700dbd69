"""One model of the suite in a process of its own: exported, judged whole, damaged, judged again."""

from __future__ import annotations

import pickle
import time
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import onnx
import torch

from modelexport_exporter.call import bind_inputs
from modelexport_exporter.checkpoint.load import load_module
from modelexport_exporter.core.dims import DimSizes
from modelexport_exporter.core.types import ConvertedModel, ExportTask
from modelexport_exporter.verification.reference import EagerReference
from models.example_inputs import example_inputs
from mutants import judges
from mutants.draws import draws
from mutants.judges import Opinion
from mutants.mutations import CONTROL, Mutant, damaged, sites_of
from mutants.plan import after_equivalent
from mutants.subject import Subject, export, task_for
from mutants.subjects import SUBJECTS
from mutants.truth import Array, Case, Change, cases_of, change, open_session, run

SMALL = 4096
"""Values of more elements are not kept for operators that fold them into the file."""


@dataclass(frozen=True)
class Finding:
    """One mutant that computes something else, and who noticed."""

    subject: str
    mutant: Mutant
    change: Change
    ours: Opinion
    optimum: Opinion
    verify_true: Opinion


@dataclass(frozen=True)
class Whole:
    """What is said of a file that nobody damaged, or that a control changed in nothing."""

    subject: str
    ours: Opinion
    optimum: Opinion
    verify_true: Opinion
    mutant: Mutant | None = None


@dataclass
class Report:
    """The result of a subject."""

    subject: str
    wholes: list[Whole] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    equivalent: int = 0
    """Mutants that compute the same, within the noise, or do not run at all."""
    seconds: float = 0.0


class Study:
    """A subject, exported into a directory."""

    def __init__(self, name: str, directory: Path) -> None:
        warnings.simplefilter("ignore")
        torch.set_num_threads(1)
        self.subject = next(entry for entry in SUBJECTS if entry.name == name)
        self.task, self.converted = _exported(self.subject, directory)
        self.model = onnx.load(self.converted.model_path)
        self.reference = self._reference()
        tensors = example_inputs(self.task.spec, DimSizes.of(self.task.spec).captured)
        names = [entry.name for entry in self.task.spec.inputs]
        self.example = {name: tensor.numpy() for name, tensor in zip(names, tensors, strict=True)}
        self.expected = self.reference.run(self.example, "the export's inputs")
        self.observed = _observe(self.model, self.example)

    def _reference(self) -> EagerReference:
        module = load_module(self.task).module
        bound_inputs = bind_inputs(self.task.spec, module, self.task.code_dir)
        return EagerReference(module, bound_inputs.call, code_dir=self.task.code_dir)

    def sites(self) -> dict[str, list[Mutant]]:
        """Return what can be damaged."""
        return sites_of(self.model, self.observed)

    def cases(self) -> list[Case]:
        """Return the inputs that decide whether a mutant counts."""
        feeds = list(draws(self.task.spec, self.subject.samples))
        return cases_of(open_session(self.converted.model_path), self.reference, feeds)

    def whole(self, mutant: Mutant | None = None) -> Whole:
        """Return what is said of the file as it was exported, or of a control."""
        path = self.write(mutant) if mutant else self.converted.model_path
        return Whole(self.subject.name, *self._opinions(path), mutant)

    def change(self, mutant: Mutant, cases: Sequence[Case]) -> Change | None:
        """Return how far a mutant goes; None where it does not even run on the export's inputs."""
        try:
            session = open_session(self.write(mutant))
            run(session, self.example)
        except Exception:  # noqa: BLE001 - whatever onnx and onnxruntime raise
            return None
        return change(session, cases)

    def finding(self, mutant: Mutant, found: Change) -> Finding:
        """Put a mutant before everybody."""
        return Finding(self.subject.name, mutant, found, *self._opinions(self.write(mutant)))

    def write(self, mutant: Mutant) -> Path:
        """Write the damaged file."""
        path = self.task.output_dir / "mutant.onnx"
        onnx.save(damaged(self.model, self.observed, mutant), path)
        return path

    def _opinions(self, path: Path) -> tuple[Opinion, Opinion, Opinion]:
        return (
            judges.ours(self.task, self.converted, path),
            judges.optimum(path, self.example, self.expected),
            judges.verify_true(path, self.example, self.expected),
        )


def survey(name: str, directory: Path) -> dict[str, list[Mutant]]:
    """Return the sites of a subject, whose export stays in the directory."""
    return Study(name, directory).sites()


def count_mutants(name: str, directory: Path, queue: Sequence[Mutant], wanted: int) -> Report:
    """Take mutants from the queue until as many count; judge them, the whole file and a control."""
    begin = time.monotonic()
    study = Study(name, directory)
    report = Report(name, [study.whole()])
    report.wholes += [study.whole(mutant) for mutant in study.sites().get(CONTROL, [])[:1]]
    cases = study.cases()
    left = list(queue)
    while left and len(report.findings) < wanted:
        mutant, *left = left
        found = study.change(mutant, cases)
        if found is None or found.excess <= 1:
            report.equivalent += 1
            left = after_equivalent(mutant, left)
        else:
            report.findings.append(study.finding(mutant, found))
    report.seconds = time.monotonic() - begin
    return report


def judge_again(name: str, directory: Path, chosen: Iterable[tuple[str, str]]) -> Report:
    """Comparator mutants that are known to count: operators and sites; and the whole file."""
    study = Study(name, directory)
    report = Report(name, [study.whole()])
    known = {
        (mutant.operator, mutant.where): mutant
        for mutants in study.sites().values()
        for mutant in mutants
    }
    for pair in chosen:
        report.findings.append(study.finding(known[pair], Change(float("nan"))))
    return report


def _exported(subject: Subject, directory: Path) -> tuple[ExportTask, ConvertedModel]:
    """Return the subject's export: made by an earlier process, or now."""
    kept = directory / "export.pickle"
    if not kept.exists():
        directory.mkdir(parents=True, exist_ok=True)
        task = task_for(subject, directory)
        kept.write_bytes(pickle.dumps((task, export(task))))
    task, converted = pickle.loads(kept.read_bytes())
    return task, converted


def _observe(model: onnx.ModelProto, feed: dict[str, Array]) -> dict[str, Array]:
    """Return the small values inside the graph on the export's inputs."""
    shown = onnx.ModelProto()
    shown.CopyFrom(model)
    known = {value.name for value in model.graph.output}
    names = [
        name
        for node in model.graph.node
        if node.op_type != "Constant"
        for name in node.output
        if name and name not in known
    ]
    shown.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names)
    session = open_session(shown.SerializeToString())
    outputs = [entry.name for entry in session.get_outputs()]
    values = zip(outputs, run(session, feed), strict=True)
    return {name: np.array(value) for name, value in values if value.size <= SMALL}
