"""A reference that answers the judge in the right types, and with what cannot be."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from multiprocessing import Pipe
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from modelexport_api.status import Verdict
from modelexport_exporter.core.outcome import Unanswered, VerificationOutcome
from modelexport_exporter.core.types import ConvertedModel, ExportTask
from modelexport_exporter.isolation.peer import Answerer
from modelexport_exporter.verification.checked_facts import LONGEST_SENTENCE, MOST_SENTENCES
from modelexport_exporter.verification.original import Facts
from modelexport_exporter.verification.reference_model import as_verification, load_reference_model
from modelexport_exporter.verification.samples import time_shares
from modelexport_exporter.verification.seeking.found import Found
from modelexport_exporter.workers.judge import Judge
from modelexport_exporter.workers.original_calls import COMPARE
from modelexport_exporter.workers.reference import _Answers
from models.catalog import small_model
from models.exporting import convert, forget_user_code, silent, task_for

CODE = Path(__file__).parents[2] / "models" / "code" / "damaged.py"
MODEL = small_model(CODE, "Scores", {"name": "x", "shape": ["n", 6], "dtype": "float32"}, n=(1, 9))
Change = Callable[[Any], object]


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(time_shares, "EVERY_SIZE_SECONDS", 0.1)
    yield
    forget_user_code()


class Lying(_Answers):
    """Answers as the model does, but for one method."""

    lie: tuple[str, Change]

    def _method(self, name: str) -> Callable[..., object]:
        honest = super()._method(name)
        return (lambda *given: self.lie[1](honest(*given))) if name == self.lie[0] else honest


class Seeking(_Answers):
    """Sends inputs to be compared that it has not found."""

    sent: Found

    def seek(self, _results: object, _has_sides: bool) -> None:
        self._question(COMPARE, self.sent)


def judged(
    task: ExportTask, converted: ConvertedModel, kind: type[_Answers], **fields: object
) -> VerificationOutcome | Unanswered:
    """Return what the judge says when such a process answers it."""
    judges_end, their_end = Pipe()
    answerer = Answerer(their_end)
    answers = kind(answerer, task, lambda: load_reference_model(task, as_verification(silent)))
    for name, value in fields.items():
        setattr(answers, name, value)

    def serve() -> None:
        with their_end:
            answers.serve()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    outcome = Judge(judges_end).judge(task, converted, silent)
    judges_end.close()
    thread.join(30)
    return outcome


def with_range(low: float, high: float) -> Change:
    def change(facts: Facts) -> Facts:
        inputs = [entry.model_copy(update={"range": [low, high]}) for entry in facts.inputs]
        return replace(facts, inputs=tuple(inputs))

    return change


LIES: dict[str, tuple[str, Change]] = {
    "a range of which all values agree": ("facts", with_range(0.0, 0.0)),
    "a number that no float holds": ("facts", lambda facts: replace(facts, named=(10**400,))),
    "one input twice": ("facts", lambda facts: replace(facts, inputs=facts.inputs * 2)),
    "arithmetic of no output": ("computed_in", lambda _: []),
}


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES)
def test_what_contradicts_the_spec_is_no_answer(tmp_path: Path, lie: tuple[str, Change]) -> None:
    task = task_for(MODEL, tmp_path)
    outcome = judged(task, convert(task), Lying, lie=lie)
    assert isinstance(outcome, Unanswered)
    assert outcome.invalid


def rows(count: int) -> dict[str, Any]:
    return {"x": np.zeros((count, 6), np.float32)}


SENT = {
    "a size that they have not": Found({"n": 7}, rows(1)),
    "a negative size": Found({"n": -7}, rows(1)),
    "no size": Found({}, rows(1)),
    "a dim of no input": Found({"n": 1, "m": 3}, rows(1)),
    "no input": Found({"n": 1}, {}),
}


@pytest.mark.parametrize("sent", SENT.values(), ids=SENT)
def test_found_inputs_are_what_they_are_said_to_be(tmp_path: Path, sent: Found) -> None:
    task = task_for(MODEL, tmp_path)
    outcome = judged(task, convert(task), Seeking, sent=sent)
    assert isinstance(outcome, Unanswered)
    assert outcome.invalid


def test_a_wrong_file_is_not_verified_on_values_that_the_reference_chose(tmp_path: Path) -> None:
    def scaled(proto: onnx.ModelProto) -> None:
        """Multiply the input, which zeros do not show."""
        for node in proto.graph.node:
            node.input[:] = ["x3" if name == "x" else name for name in node.input]
        three = onnx.numpy_helper.from_array(np.array(3, np.float32), "three")
        proto.graph.initializer.append(three)
        nodes = [onnx.helper.make_node("Mul", ["x", "three"], ["x3"]), *proto.graph.node]
        del proto.graph.node[:]
        proto.graph.node.extend(nodes)

    task = task_for(MODEL, tmp_path)
    wrong = convert(task, damage=scaled)
    honest = judged(task, wrong, _Answers)
    assert isinstance(honest, VerificationOutcome)
    assert honest.summary.verdict is Verdict.MISMATCH
    forget_user_code()
    outcome = judged(task, wrong, Lying, lie=("facts", with_range(0.0, 0.0)))
    assert isinstance(outcome, Unanswered)


def test_what_the_reference_says_for_the_status_is_short_and_printable(tmp_path: Path) -> None:
    task = task_for(MODEL, tmp_path)
    said = ["\x1b[2J\nVerified", "x" * 100_000, *["more"] * 10_000]
    outcome = judged(task, convert(task), Lying, lie=("coverage", lambda _: said))
    assert isinstance(outcome, VerificationOutcome)
    coverage = outcome.summary.coverage
    assert all(text.isprintable() and len(text) <= LONGEST_SENTENCE for text in coverage)
    assert len(coverage) <= MOST_SENTENCES + 5
