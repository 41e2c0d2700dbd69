"""`modelexport render` of a trigger: what it would create for an object, or why it would not."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from modelexport_api.resource import parse
from modelexport_cli.main import main
from modelexport_operator.triggers.child import build
from modelexport_operator.triggers.completion import find_completion
from unit.api.trigger_manifests import TRIGGER, changed
from unit.operator.triggers.trainings import SUCCEEDED, UNFINISHED, training, trigger

JOB = training("Job", SUCCEEDED["Job"])
META = {"namespace": "team", "uid": "uid-of-trigger", "creationTimestamp": "2026-05-01T11:30:00Z"}
STORED = {**TRIGGER, "metadata": {"name": "digits", **META}}
Run = tuple[int, str, str]


@pytest.fixture
def render(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Any:  # noqa: ANN401
    def run(manifest: dict[str, Any], body: object | None = JOB) -> Run:
        file, finished = tmp_path / "trigger.yaml", tmp_path / "object.yaml"
        file.write_text(json.dumps(manifest))
        finished.write_text(json.dumps(body))
        code = main(["render", str(file), *([] if body is None else ["--for", str(finished)])])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


def test_the_operator_creates_the_same(render: Any) -> None:  # noqa: ANN401
    code, out, err = render(STORED)
    found = find_completion(trigger().spec.source, JOB)
    assert found is not None
    assert (code, err) == (0, "")
    assert yaml.safe_load(out) == build(trigger(), JOB, found)
    assert parse(yaml.safe_load(out)).spec.source.uri == "s3://models/train-42/model.pt"


def test_the_object_is_read_from_standard_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "trigger.yaml"
    file.write_text(json.dumps(STORED))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(yaml.safe_dump(JOB).encode())))
    assert main(["render", str(file), "--for", "-"]) == 0
    assert "train-42" in capsys.readouterr().out


def test_a_time_without_quotes_is_text_as_the_api_server_has_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    template = {**TRIGGER["spec"]["template"], "metadata": {"annotations": {"at": "$(status.at)"}}}
    file, finished = tmp_path / "trigger.yaml", tmp_path / "object.yaml"
    file.write_text(json.dumps({**STORED, "spec": {**STORED["spec"], "template": template}}))
    text = yaml.safe_dump(JOB).replace("'2026-05-01T12:00:00Z'", "2026-05-01T12:00:00Z")
    finished.write_text(text.replace("status:\n", "status:\n  at: 2026-05-01T12:00:00Z\n"))
    assert main(["render", str(file), "--for", str(finished)]) == 0
    meta = yaml.safe_load(capsys.readouterr().out)["metadata"]
    assert meta["annotations"]["at"] == "2026-05-01T12:00:00Z"
    assert meta["annotations"]["modelexport.dev/completion"].startswith("2026-05-01T12:00:00Z ")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: &a [x, x]\n" + "\n".join(f"a{n}: &a{n} [*a{n - 1 or ''}, *a{n - 1 or ''}]"
         for n in range(1, 40)), "aliases stand for more than 1,000,000 values"),
        ("a: &a [*a]", "aliases stand for more than"),
        ("metadata: {}\nmetadata: {}", "the key metadata occurs twice"),
        ("a: !!python/object/apply:os.getcwd []", "could not determine a constructor for the tag"),
        ("a: !!binary AAAA", "not JSON serializable"),
        ("a: " + "[" * 5000, "is nested too deeply"),
        ("a: 1\n---\nb: 2", "holds 2 documents; expected one object"),
        ("", "is not a Kubernetes object"),
    ],
    ids=["aliases that multiply", "an alias of itself", "a key twice", "an object of Python",
         "binary", "deep", "two documents", "empty"],
)  # fmt: skip
def test_a_finished_object_is_read_within_limits(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, words: str
) -> None:
    file, finished = tmp_path / "trigger.yaml", tmp_path / "object.yaml"
    file.write_text(json.dumps(STORED))
    finished.write_text(text)
    assert main(["render", str(file), "--for", str(finished)]) == 10
    assert words in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("manifest", "body", "words"),
    [
        (STORED, None, "pass one with --for (kubectl get job NAME -o yaml"),
        (STORED, "text", "is not a Kubernetes object"),
        (STORED, training("JobSet", {}, "jobset.x-k8s.io/v1alpha2"), "has kind JobSet of jobset"),
        (changed("startPolicy", "Some"), JOB, 'spec.startPolicy: found "Some"; expected one of'),
        (
            changed("template.spec.source", {"uri": "s3://b/$(metadata.name"}),
            JOB,
            "spec.template.spec.source.uri: $(metadata.name: expected ')'",
        ),
        (
            changed("template.spec.source", {"uri": "s3://b/$(metadata.labels.run)"}),
            JOB,
            "Job train-42: spec.template.spec.source.uri: $(metadata.labels.run): the object has "
            "no such field",
        ),
        (
            changed("template.spec.source", {"uri": "$(metadata.name)"}),
            JOB,
            "Job train-42: the resulting ModelExport is invalid: spec.source.uri",
        ),
    ],
    ids=[
        "missing object",
        "not a Kubernetes object",
        "another kind",
        "invalid trigger",
        "invalid expression",
        "no value",
        "invalid export",
    ],
)
def test_invalid_input_is_reported(
    render: Any,  # noqa: ANN401
    manifest: dict[str, Any],
    body: object,
    words: str,
) -> None:
    code, out, err = render(manifest, body)
    assert (code, out) == (10, "")
    assert words in err
    assert "Traceback" not in err


RUNNING = next(status for kind, what, status in UNFINISHED if (kind, what) == ("Job", "runs"))
OLD = training(
    "Job", {"conditions": [{"type": "Complete", "status": "True"}], "completionTime": "2026-04-01"}
)


@pytest.mark.parametrize(
    ("manifest", "body", "note"),
    [
        (STORED, training("Job", RUNNING), "the object has not succeeded"),
        (STORED, OLD, "completed before the trigger was created"),
        (STORED, training("Job", SUCCEEDED["Job"], labels={"queue": "x"}), "does not select"),
        (STORED, training("Job", SUCCEEDED["Job"], namespace="other"), "namespace, team"),
        ({**STORED, "spec": {**STORED["spec"], "suspend": True}}, JOB, "is suspended"),
        (TRIGGER, JOB, "was not read from a cluster"),
    ],
    ids=["running", "old", "not selected", "other namespace", "suspended", "not in a cluster"],
)
def test_a_note_says_why_the_operator_would_not_create_it_now(
    render: Any,  # noqa: ANN401
    manifest: dict[str, Any],
    body: object,
    note: str,
) -> None:
    code, out, err = render(manifest, body)
    assert code == 0
    assert yaml.safe_load(out)["kind"] == "ModelExport"
    (line,) = err.splitlines()
    assert line.startswith("note: ")
    assert note in line


def test_for_is_valid_only_for_triggers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    export = {
        "apiVersion": "modelexport.dev/v1alpha1",
        "kind": "ModelExport",
        "metadata": {"name": "digits"},
        "spec": {
            "source": {"uri": "s3://b/m.pt"},
            "inputs": [{"name": "x", "shape": [1]}],
            "destination": {"uri": "s3://b/o/"},
        },
    }
    file = tmp_path / "export.yaml"
    file.write_text(json.dumps(export))
    assert main(["render", str(file), "--for", str(file)]) == 10
    assert "--for is valid only for a ModelExportTrigger" in capsys.readouterr().err


def test_rendering_does_not_import_the_operator_s_dependencies() -> None:
    script = (
        "import sys, modelexport_cli.render_trigger\n"
        "from modelexport_operator.triggers import child, ready, candidates\n"
        "print({'kubernetes', 'kopf', 'aiohttp', 'prometheus_client', 'torch'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "set()\n"


def test_the_example_is_valid(capsys: pytest.CaptureFixture[str]) -> None:
    example = Path(__file__).resolve().parents[3] / "examples" / "automation"
    code = main(
        ["render", str(example / "trigger.yaml"), "--for", str(example / "finished-job.yaml")]
    )
    export = parse(yaml.safe_load(capsys.readouterr().out))
    assert code == 0
    assert export.spec.source.uri == "s3://models/digits/run-7/fold-*.pt"
    assert export.spec.source.is_batch
    assert export.spec.destination.uri == "s3://models/digits/onnx/digits-7/{stem}/"
    assert export.metadata.labels["team"] == "vision"
