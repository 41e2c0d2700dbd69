"""Verdict, contract, graph, route and latency: what the page says of a report."""

from __future__ import annotations

from typing import Any

import pytest

from modelexport_api.reasons import EXIT_CODES, Reason
from modelexport_exporter.report import contract, graph
from modelexport_exporter.report.blame import culprit_of
from modelexport_exporter.report.contract import contract_of
from modelexport_exporter.report.graph import graph_of, walk
from modelexport_exporter.report.latency import latency_of
from modelexport_exporter.report.page import page_of
from modelexport_exporter.report.route import route_of
from modelexport_exporter.report.tried import tried_of
from modelexport_exporter.report.verdict import Tone, trouble_of, verdict_of
from unit.exporter.report.reports import (
    artifact,
    compared,
    failed,
    report,
    sample,
    spec,
    verification,
)

SPACE = "\N{NO-BREAK SPACE}"


def test_a_success_says_how_far_from_the_limit_it_is() -> None:
    verdict = verdict_of(report())
    assert (verdict.tone, verdict.word, verdict.reason) == (Tone.GOOD, "Verified", "")
    assert verdict.sentence == (
        f"The ONNX file computes what the model computes: 2{SPACE}samples on CPU agree with eager "
        "PyTorch. The largest error is 1/100 of the tolerance."
    )
    facts = {fact.label: (fact.value, fact.more) for fact in verdict.facts}
    assert facts["Samples"] == ("2", "all agree")
    assert facts["Took"] == (f"12.5{SPACE}s", f"521{SPACE}MB at the peak")


@pytest.mark.parametrize(
    ("found", "shown"),
    [
        (
            {"landlockAbi": 7, "seccomp": True, "network": "Closed"},
            [("isolation of the model's code", "Landlock ABI 7, seccomp, network closed")],
        ),
        (
            {"network": "Open", "missing": ["files, signals: none"]},
            [
                ("isolation of the model's code", "network open"),
                ("not in force", "files, signals: none"),
            ],
        ),
        (None, []),
    ],
)
def test_how_the_model_s_code_was_isolated(
    found: dict[str, Any] | None, shown: list[tuple[str, str]]
) -> None:
    page = page_of(report(verification=verification(isolation=found)))
    pairs = [(pair.name, pair.value) for pair in page.environment]
    after = pairs.index(("peak memory", f"521{SPACE}MB")) + 1
    assert pairs[after:] == shown


@pytest.mark.parametrize("reason", EXIT_CODES)
def test_every_reason_has_words(reason: Reason) -> None:
    verdict = verdict_of(failed(reason.value))
    assert verdict.reason == reason.value
    assert verdict.word not in {"", "Verified"}
    assert verdict.sentence.endswith(". Nothing was published.")


@pytest.mark.parametrize(
    ("reason", "tone", "word"),
    [
        ("VerificationFailed", Tone.BAD, "Mismatch"),
        ("UnsupportedOperator", Tone.BAD, "Not exported"),
        ("DynamicDimSpecialized", Tone.BAD, "Refused"),
        ("IllConditioned", Tone.BAD, "No verdict"),
        ("IsolationUnavailable", Tone.BAD, "Refused"),
    ],
)
def test_verdict_is_summed_up_in_a_word(reason: str, tone: Tone, word: str) -> None:
    verdict = verdict_of(failed(reason))
    assert (verdict.tone, verdict.word) == (tone, word)


@pytest.mark.parametrize(
    ("reason", "stage", "mode", "word", "said"),
    [
        ("InputsMismatch", "Capture", "Export", "Not exported", "does not accept the inputs"),
        ("InputsMismatch", "Verify", "Export", "No verdict", "could not be compared"),
        ("InputsMismatch", "Load", "Verify", "No verdict", "could not be compared"),
        ("ArtifactInvalid", "Load", "Verify", "Refused", "The artifact to verify"),
        ("SamplesInvalid", "Verify", "Export", "No verdict", "recorded inputs"),
        ("OutOfMemory", "Verify", "Verify", "Failed", "The verification reached a limit"),
        ("OutOfMemory", "Convert", "Export", "Failed", "The export reached a limit"),
        ("VerificationFailed", "Verify", "Verify", "Mismatch", "does not compute"),
    ],
)
def test_the_banner_is_that_of_the_condition_that_failed(
    reason: str, stage: str, mode: str, word: str, said: str
) -> None:
    verdict = verdict_of(failed(reason, failure={"stage": stage}, spec=spec(mode=mode)))
    assert verdict.word == word
    assert said in verdict.sentence
    if stage == "Verify" or mode == "Verify":
        assert "converted" not in verdict.sentence


def test_what_is_tried_again_looks_different() -> None:
    verdict = verdict_of(failed("StoreUnavailable", failure={"retryable": True}))
    assert (verdict.tone, verdict.word) == (Tone.AGAIN, "Interrupted")


def test_failure_shows_the_lines_of_the_most_informative_attempt() -> None:
    def tried(rung: str, reason: str, *lines: str) -> dict[str, Any]:
        pitfalls = [{"kind": "NumPy", "message": "leaves torch", "source": s} for s in lines]
        failure = {"reason": reason, "message": "no"}
        return {
            "rung": rung,
            "seconds": 1.0,
            "outcome": "Failed",
            "failure": failure,
            "pitfalls": pitfalls,
        }

    found = trouble_of(
        failed(
            "VerificationFailed",
            "first\n\nsecond",
            attempts=[
                tried("Dynamo", "CaptureFailed", "m.py:1", "m.py:2"),
                tried("Trace", "VerificationFailed", "m.py:2"),
            ],
        )
    )
    assert found is not None
    assert found.message == ("first", "second")
    assert [pitfall.source for pitfall in found.pitfalls] == ["m.py:2", "m.py:1"]


@pytest.mark.parametrize(
    ("obtained", "kept"),
    [
        pytest.param({"dtype": "float32", "shape": ["batch", 4]}, True, id="as requested"),
        pytest.param({"dtype": "float32", "shape": [3, 4]}, False, id="a constant"),
        pytest.param({"dtype": "float16", "shape": ["batch", 4]}, False, id="another type"),
        pytest.param({"dtype": "float32", "shape": ["batch"]}, False, id="fewer dims"),
    ],
)
def test_an_input_is_held_against_what_was_asked(obtained: dict[str, Any], kept: bool) -> None:
    found = contract_of(report(artifact=artifact(inputs=[{"name": "x", **obtained}])))
    assert found.terms[0].requested == "float32[batch, 4]"
    assert found.terms[0].kept is kept


def test_a_dim_of_one_size_is_a_constant() -> None:
    asked = spec(dims={"batch": {"min": 3, "max": 3}})
    made = artifact(inputs=[{"name": "x", "dtype": "float32", "shape": [3, 4]}])
    assert contract_of(report(spec=asked, artifact=made)).terms[0].kept


def test_an_input_that_was_dropped_is_not_kept() -> None:
    found = contract_of(report(artifact=artifact(inputs=[])))
    assert (found.terms[0].obtained, found.terms[0].kept) == ("not in the file", False)


def test_the_contract_of_a_failure_is_what_was_asked() -> None:
    found = contract_of(failed("CaptureFailed"))
    assert not found.obtained
    assert [term.name for term in found.terms] == ["x", "ai.onnx", "y"]
    assert all(term.kept for term in found.terms)


def test_the_contract_of_a_mismatch_is_that_of_its_file() -> None:
    made = artifact()
    file = {key: made[key] for key in ("exporter", "opset", "irVersion", "sizeBytes")}
    file |= {"inputs": made["inputs"], "outputs": [{**made["outputs"][0], "name": "tanh"}]}
    found = contract_of(failed("VerificationFailed", unpublished=file))
    assert found.obtained
    assert not found.published
    assert [(term.obtained, term.kept) for term in found.terms] == [
        ("float32[batch, 4]", True),
        ("20", True),
        ("float32[batch, 2]", False),
    ]


def test_each_input_says_which_sizes_and_values_were_tried() -> None:
    tried = [
        {
            "name": "ids",
            "shapes": [[1, 9], [16, 9], [7, 9]],
            "low": 0.0,
            "high": 999.0,
            "kinds": ["normal", "zeros"],
        },
        {"name": "x", "shapes": [[n] for n in range(1, 21)], "low": 2.5, "high": 2.5,
         "notFinite": 1, "kinds": ["NaN"]},
        {"name": "n", "shapes": [[]], "kinds": ["normal"]},
    ]  # fmt: skip
    inputs = [
        {"name": "ids", "dtype": "int64", "shape": ["batch", 9], "range": [0, 999]},
        {"name": "x", "dtype": "float32", "shape": ["n"]},
    ]
    found = tried_of(report(tried=tried, spec=spec(inputs=inputs)))
    assert found.kinds == ""
    assert [(row.name, row.declared, row.sizes, row.values, row.kinds) for row in found.rows] == [
        ("ids", "int64[batch, 9] in 0 to 999", "batch: 1, 7, 16", "0 to 999", "normal, zeros"),
        (
            "x",
            "float32[n]",
            "n: 20 sizes from 1 to 20",
            f"2.5; NaN or infinity in 1{SPACE}sample",
            "NaN",
        ),
        ("n", "–", "the declared ones", "no elements", "normal"),
    ]


def test_kinds_of_values_that_all_inputs_have_are_said_once() -> None:
    tried = [{"name": name, "shapes": [[1]], "kinds": ["normal", "zeros"]} for name in "xy"]
    assert tried_of(report(tried=tried)).kinds == "normal, zeros"


def test_of_a_long_contract_whatever_differs_is_shown_at_once() -> None:
    names = [f"o{index}" for index in range(40)]
    tensors = [{"name": name, "dtype": "float32", "shape": []} for name in names]
    tensors[35]["name"] = "renamed"
    found = contract_of(report(spec=spec(outputs=names), artifact=artifact(outputs=tensors)))
    assert len(found.terms) == contract.AT_ONCE + 1
    assert (found.terms[-1].name, found.terms[-1].kept) == ("o35", False)
    assert len(found.terms) + len(found.more) == 42


def test_dims_say_where_they_were_compared() -> None:
    found = contract_of(report())
    assert [(dim.low, dim.high, dim.verified_at) for dim in found.dims] == [(1, 16, "1, 7")]


def test_inferred_values_are_marked_with_how_they_were_found() -> None:
    inferred = [
        {"field": "inputs[0].shape", "value": "[batch, 4]", "source": "ran at 2 and 3"},
        {"field": "inputs[0].dtype", "value": "float32", "source": "forward's annotation"},
        {"field": "dims.batch", "value": "1..16", "source": "ran at 1 and 16"},
    ]
    found = contract_of(report(inferred=inferred))
    assert [(term.name, term.inferred) for term in found.terms] == [
        ("x", "ran at 2 and 3; forward's annotation"),
        ("ai.onnx", ""),
        ("y", ""),
    ]
    assert [dim.inferred for dim in found.dims] == ["ran at 1 and 16"]
    assert [entry.field for entry in found.inferred] == [entry["field"] for entry in inferred]


def modules(*rows: tuple[str, int]) -> list[dict[str, Any]]:
    return [
        {"path": path, "moduleClass": f"torch.nn.C{path}", "nodes": nodes, "parameters": 0}
        for path, nodes in rows
    ]


def test_operators_are_ordered_by_count_and_modules_nested() -> None:
    found = graph_of(
        report(modules=modules(("", 3), ("body", 2), ("body.0", 1), ("body.1", 1), ("head", 1)))
    )
    assert found is not None
    assert [(bar.name, bar.count, bar.width) for bar in found.operators] == [
        ("Gemm", "2", 100.0),
        ("Relu", "1", 50.0),
    ]
    assert found.root is not None
    assert [node.name for node in walk(found.root)] == ["model", "body", "0", "1", "head"]
    assert found.root.is_open
    assert not found.root.children[0].is_open


def test_a_file_that_names_no_module_has_no_tree() -> None:
    found = graph_of(report(modules=modules(("", 3))))
    assert found is not None
    assert found.root is None


def test_a_deep_model_is_cut_where_a_person_stops_looking(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph, "MOST_MODULES", 3)
    found = graph_of(report(modules=modules(("", 3), ("a", 3), ("a.b", 2), ("a.b.c", 1), ("d", 1))))
    assert found is not None
    assert (found.depth, found.modules_left_out) == (1, 2)


def test_route_lists_tried_rungs_with_reason_and_time() -> None:
    failure = {"reason": "CaptureFailed", "message": "no graph", "stage": "Capture"}
    found = route_of(
        report(
            attempts=[
                {"rung": "Dynamo", "seconds": 1.0, "outcome": "Failed", "failure": failure},
                {"rung": "Script", "seconds": 2.0, "outcome": "Deferred"},
                {"rung": "Trace", "seconds": 4.0, "outcome": "Verified"},
            ]
        )
    )
    assert [(rung.outcome, rung.reason, rung.width) for rung in found.rungs] == [
        ("failed in Capture", "CaptureFailed", 25.0),
        ("deferred to the other route", "", 50.0),
        ("verified", "", 100.0),
    ]
    assert [(stage.name, stage.note, stage.seconds) for stage in found.stages] == [
        ("Fetch", "", f"500{SPACE}ms"),
        ("attempt 1: Dynamo", "failed in Capture", f"1.0{SPACE}s"),
        ("attempt 2: Script", "deferred to the other route", f"2.0{SPACE}s"),
        ("Verify", "", f"2.0{SPACE}s"),
        ("everything else", "", f"7.0{SPACE}s"),
    ]
    assert found.took == f"12.5{SPACE}s"


def test_the_time_of_a_failed_run_adds_up() -> None:
    failure = {"reason": "VerificationFailed", "message": "no", "stage": "Verify"}
    tried = {"rung": "Dynamo", "seconds": 9.0, "outcome": "Failed", "failure": failure}
    found = route_of(failed("VerificationFailed", attempts=[tried], failure=failure))
    assert [(stage.name, stage.note, stage.seconds) for stage in found.stages] == [
        ("Fetch", "", f"500{SPACE}ms"),
        ("attempt 1: Dynamo", "failed in Verify", f"9.0{SPACE}s"),
        ("everything else", "", f"3.0{SPACE}s"),
    ]


def test_a_stage_that_failed_before_any_attempt_has_the_rest_of_the_time() -> None:
    found = route_of(failed("SourceNotFound", failure={"stage": "Fetch"}, stages=[]))
    assert [(stage.name, stage.seconds) for stage in found.stages] == [("Fetch", f"12.5{SPACE}s")]
    assert found.stages[0].note.startswith("failed")


@pytest.mark.parametrize(
    ("onnx", "compared"),
    [
        (2.0, "2.0× as fast as eager"),
        (8.0, "2.0× as slow as eager"),
        (4.1, "as fast as eager"),
    ],
)
def test_latency_is_compared_with_eager(onnx: float, compared: str) -> None:
    measured = {
        "dims": {"batch": 16},
        "eager": {"median": 4.0, "p95": 5.0},
        "onnx": {"median": onnx, "p95": onnx},
    }
    found = latency_of(
        report(verification=verification(latencyMs=measured), measured={"notMeasured": ["slow"]})
    )
    assert found is not None
    assert [row.compared for row in found.rows] == ["", compared]
    assert found.left_out == ("slow",)
    assert max(row.p95_width for row in found.rows) == 100.0


def test_without_a_benchmark_there_is_no_latency() -> None:
    assert latency_of(report()) is None


@pytest.mark.parametrize(
    ("blame", "lead", "labels"),
    [
        pytest.param(
            {"node": "n", "op": "Conv", "source": "m.py:3", "errorAfter": 0.4, "proven": True},
            "the rest of the file matches",
            ["Node", "Source", "Relative error of its output"],
            id="proven",
        ),
        pytest.param(
            {"node": "n", "op": "Conv", "module": "a.b"},
            "could not be proven",
            ["Node", "Module"],
            id="likely",
        ),
        pytest.param({"optimization": "extended"}, "The file itself matches", [], id="runtime's"),
        pytest.param({"whyNot": "too large"}, "No single node", [], id="none"),
    ],
)
def test_the_node_to_blame(blame: dict[str, Any], lead: str, labels: list[str]) -> None:
    found = culprit_of(failed("VerificationFailed", blame=blame))
    assert found is not None
    assert lead in found.lead
    assert [term.label for term in found.terms] == labels
    assert found.without == blame.get("whyNot", "")


def test_without_a_search_nobody_is_to_blame() -> None:
    assert culprit_of(failed("VerificationFailed")) is None


def test_a_mismatch_counts_the_samples_that_differ() -> None:
    found = verdict_of(
        failed(
            "VerificationFailed",
            verification=verification(verdict="Mismatch"),
            samples=[
                sample(compared("y", 1.0, problem="off")),
                sample(compared("y", 0.0), batch=2),
            ],
        )
    )
    facts = {fact.label: fact.more for fact in found.facts}
    assert facts["Samples"] == "1 of 2 differ"


def test_gpus_their_driver_and_libraries_are_named() -> None:
    environment = {
        "versions": {"torch": "2.15.0"},
        "python": "3.11.7",
        "platform": "Linux",
        "cpus": 16,
        "gpus": ["NVIDIA H200", "NVIDIA H200", "NVIDIA L4"],
        "gpuDriver": "580.159.04",
        "gpuLibraries": {"nvidia-cublas": "13.4.1.3"},
    }
    pairs = {pair.name: pair.value for pair in page_of(report(environment=environment)).environment}
    assert pairs["GPU"] == "2 x NVIDIA H200, NVIDIA L4"
    assert pairs["NVIDIA driver"] == "580.159.04"
    assert pairs["nvidia-cublas"] == "13.4.1.3"
    assert "GPU" not in {pair.name for pair in page_of(report()).environment}
