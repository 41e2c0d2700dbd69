"""The commands of a user on a real API server, with a real operator; the test runs the pods."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from bed import golang
from bed.s3 import S3Server
from cluster.operator.command import Terminal
from cluster.operator.kubelet import LogServer
from cluster.operator.replica import Replica
from cluster.operator.world import SUCCESS, World, eventually, failure
from modelexport_api.pod import LogLine
from modelexport_api.reasons import ExitCode, Reason
from modelexport_api.status import Progress, Stage
from modelexport_cli.cluster.errors import ExportFailedError
from modelexport_cli.cluster.submission import submit

pytestmark = pytest.mark.control_plane

MISMATCH = failure(
    Reason.VERIFICATION_FAILED,
    Stage.VERIFY,
    [Stage.FETCH, Stage.LOAD, Stage.CAPTURE, Stage.CONVERT, Stage.CONTRACT],
)


@pytest.fixture
def terminal(world: World, tmp_path: Path) -> Terminal:
    return Terminal(world, tmp_path)


def log_of(stage: Stage, percent: int, message: str) -> str:
    progress = Progress(stage=stage, percent=percent, message=message)
    line = LogLine(
        time="2026-01-02T03:04:05.678+00:00",
        level="info",
        message=f"{stage}: {message}",
        progress=progress,
    )
    return f"a library says hello\n{line.model_dump_json(by_alias=True, exclude_none=True)}\n"


def fail(world: World, name: str) -> None:
    pod = world.live_pod(name)
    world.run_pod(pod)
    world.end_pod(pod, ExitCode.VERIFICATION, MISMATCH)
    world.wait_for(name, "Failed")


def succeed(world: World, name: str) -> None:
    pod = world.live_pod(name)
    world.run_pod(pod)
    world.end_pod(pod, 0, SUCCESS)


def test_a_ci_job_fails_on_a_mismatch(
    world: World, operator: Replica, terminal: Terminal, logs: LogServer
) -> None:
    command = terminal.start("submit", terminal.manifest("digits"), "--wait")
    command.wait_for("created")
    pod = world.live_pod("digits")
    logs.say(world.namespace, pod, log_of(Stage.CAPTURE, 30, "attempt 1 of 5: Dynamo"))
    world.run_pod(pod)
    command.wait_for("attempt 1 of 5: Dynamo")
    world.end_pod(pod, ExitCode.VERIFICATION, MISMATCH)
    done = command.end()
    assert done.code == ExitCode.VERIFICATION
    assert "VerificationFailed in Verify" in done.out
    assert "found this, expected that" in done.out
    assert "do so" in done.out
    assert "Traceback" not in done.err


def test_a_success_is_summarised_and_submitted_again_up_to_date(
    world: World, operator: Replica, terminal: Terminal
) -> None:
    manifest = terminal.manifest("digits")
    command = terminal.start("submit", manifest, "--wait", "-o", "json")
    command.wait_for("created")
    succeed(world, "digits")
    done = command.end()
    assert done.code == 0
    assert json.loads(done.out) == world.export("digits")["status"]
    assert f"modelexport/digits created in namespace {world.namespace}" in done.err

    again = terminal.run("submit", manifest, "--wait")
    assert again.code == 0
    assert "is up to date" in again.err
    assert "Verified  digits" in again.out
    assert "s3://models/digits/onnx/report.html" in again.out

    other = terminal.run("submit", terminal.manifest("digits", export={"opset": 18}))
    assert other.code == ExitCode.MANIFEST
    assert "spec.export.opset: 18 here, 20 in the cluster" in other.err
    assert f"kubectl delete modelexport digits -n {world.namespace}" in other.err


def test_ctrl_c_leaves_the_export_running_and_submit_attaches_to_it(
    world: World, operator: Replica, terminal: Terminal
) -> None:
    manifest = terminal.manifest("digits")
    command = terminal.start("submit", manifest, "--wait")
    command.wait_for("created")
    pod = world.live_pod("digits")
    command.interrupt()
    done = command.end()
    assert done.code == 130
    assert "The export goes on in the cluster." in done.err
    assert "modelexport cancel digits" in done.err
    assert "Traceback" not in done.err

    late = terminal.run("submit", manifest, "--wait", "--timeout", "1s")
    assert late.code == ExitCode.RETRYABLE
    assert "digits has not ended within 1 s" in late.err

    command = terminal.start("submit", manifest, "--wait")
    command.wait_for("exists")
    world.run_pod(pod)
    world.end_pod(pod, 0, SUCCESS)
    assert command.end().code == 0


def test_cancel_ends_those_who_wait_and_retry_resumes(
    world: World, operator: Replica, terminal: Terminal
) -> None:
    manifest = terminal.manifest("digits")
    waiting = terminal.start("submit", manifest, "--wait")
    waiting.wait_for("created")
    pod = world.live_pod("digits")
    world.run_pod(pod)
    cancelled = terminal.run("cancel", "digits")
    assert cancelled.code == 0
    assert "digits is cancelled" in cancelled.out
    assert "modelexport retry digits" in cancelled.err
    done = waiting.end()
    assert done.code == ExitCode.RETRYABLE
    assert "digits is cancelled" in done.err
    assert "already" in terminal.run("cancel", "digits").out
    eventually(lambda: world.is_being_deleted(pod), "the pod is being deleted")
    world.delete_pod(pod)
    world.wait_for_phase("digits", "Suspended")

    command = terminal.start("retry", "digits", "--wait")
    command.wait_for("resumed")
    succeed(world, "digits")
    assert command.end().code == 0
    ended = terminal.run("retry", "digits")
    assert ended.code == 0
    assert "nothing to retry" in ended.err


def test_a_failed_export_is_created_again_as_it_was(
    world: World, operator: Replica, terminal: Terminal
) -> None:
    terminal.run("submit", terminal.manifest("digits", ttlSecondsAfterFinished=600))
    fail(world, "digits")
    before = world.export("digits")
    command = terminal.start("retry", "digits", "--wait")
    command.wait_for("Pending")
    assert world.export("digits")["metadata"]["uid"] != before["metadata"]["uid"]
    succeed(world, "digits")
    assert command.end().code == 0
    after = world.export("digits")
    assert after["spec"] == before["spec"]
    assert after["metadata"]["labels"] == {"team": "vision"}
    assert not list(terminal.home.glob(".local/state/modelexport/retry/*"))


def test_a_retry_that_was_killed_after_the_deletion_is_finished_by_the_next(
    world: World, operator: Replica, terminal: Terminal
) -> None:
    terminal.run("submit", terminal.manifest("digits"))
    fail(world, "digits")
    held = {"metadata": {"finalizers": ["test.modelexport.dev/hold"]}}
    world.patch("digits", held)
    command = terminal.start("retry", "digits")
    command.wait_for("is deleted and created again")
    eventually(
        lambda: "deletionTimestamp" in world.export("digits")["metadata"], "the deletion has begun"
    )
    command.process.kill()
    command.end()
    world.patch("digits", {"metadata": {"finalizers": None}})
    eventually(lambda: not world.exists("digits"), "it is deleted")

    done = terminal.run("retry", "digits")
    assert done.code == 0
    assert "deleted by a retry that did not end" in done.err
    succeed(world, "digits")
    assert world.wait_for("digits", "Complete")["phase"] == "Succeeded"
    assert terminal.run("retry", "other").code == 2


def test_logs_of_the_right_pod(
    world: World, operator: Replica, terminal: Terminal, logs: LogServer
) -> None:
    terminal.run("submit", terminal.manifest("digits"))
    first = world.live_pod("digits")
    waiting = terminal.run("logs", "digits")
    assert (waiting.code, waiting.out) == (0, "")
    assert "has not started" in waiting.err
    world.run_pod(first)
    world.end_pod(first, 137, reason="Error")
    second = world.live_pod("digits")
    logs.say(world.namespace, first, "the first pod\n")
    assert terminal.run("logs", "digits").out == "the first pod\n", "the second has no log yet"
    logs.say(world.namespace, second, log_of(Stage.CAPTURE, 30, "attempt 2"))
    world.run_pod(second)
    assert terminal.run("logs", "digits").out == (
        "a library says hello\n03:04:05   30 %  Capture   attempt 2\n"
    )
    raw = terminal.run("logs", "digits", "-o", "json", "--tail", "5").out
    assert json.loads(raw.splitlines()[1])["progress"]["stage"] == "Capture"

    following = terminal.start("logs", "digits", "-f")
    following.wait_for(second)
    world.end_pod(second, ExitCode.VERIFICATION, MISMATCH)
    world.wait_for("digits", "Failed")
    done = following.end()
    assert "attempt 2" in done.out
    assert "digits is Failed (VerificationFailed)" in done.err

    world.delete_pod(first)
    world.delete_pod(second)
    gone = terminal.run("logs", "digits")
    assert "is gone" in gone.err
    assert "Verified False (VerificationFailed): found this, expected that" in gone.out
    assert "hint: do so" in gone.out


def test_logs_of_a_share_of_a_batch(
    world: World, operator: Replica, terminal: Terminal, logs: LogServer
) -> None:
    batch = {"uri": "s3://models/folds/*.pt", "format": "StateDict"}
    destination = {"uri": "s3://models/onnx/{stem}/"}
    manifest = terminal.manifest("folds", source=batch, destination=destination, parallelism=2)
    terminal.run("submit", manifest)
    eventually(lambda: len(world.pods("folds")) == 2, "two pods")
    for pod in world.pods("folds"):
        name = pod["metadata"]["name"]
        share = pod["metadata"]["annotations"]["batch.kubernetes.io/job-completion-index"]
        logs.say(world.namespace, name, f"share {share}\n")
        world.run_pod(name)
    unclear = terminal.run("logs", "folds")
    assert unclear.code == 2
    assert "--index 0 to --index 1" in unclear.err
    assert terminal.run("logs", "folds", "--index", "1").out == "share 1\n"


@pytest.mark.s3
def test_the_report_is_read_from_the_destination_with_the_keys_of_the_user(
    world: World, operator: Replica, terminal: Terminal, s3: S3Server, bucket: str
) -> None:
    storage = {"endpoint": s3.endpoint, "region": s3.region, "secretName": "of-the-pod"}
    terminal.run("submit", terminal.manifest("digits", storage=storage))
    pod = world.live_pod("digits")
    world.run_pod(pod)
    uri = f"s3://{bucket}/onnx/report.json"
    world.end_pod(pod, 0, SUCCESS.model_copy(update={"report_uri": uri}))
    world.wait_for("digits", "Complete")

    strange = {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"}
    terminal.variables = {**strange, "AWS_EC2_METADATA_DISABLED": "true"}
    denied = terminal.run("report", "digits")
    assert denied.code == ExitCode.SOURCE
    assert "with your own credentials: set AWS_PROFILE" in denied.err

    terminal.variables = s3.environment()
    missing = terminal.run("report", "digits")
    assert missing.code == ExitCode.SOURCE
    assert f"s3://{bucket}/onnx/report.html not found" in missing.err

    page = b"<html>Verified</html>"
    s3.client().put_object(Bucket=bucket, Key="onnx/report.html", Body=page)
    saved = terminal.run("report", "digits")
    assert saved.out == f"{terminal.home / 'digits-report.html'}\n"
    assert (terminal.home / "digits-report.html").read_bytes() == page
    terminal.run("report", "digits", "--save", "other.html")
    assert (terminal.home / "other.html").read_bytes() == page


def test_errors_are_sentences(world: World, operator: Replica, terminal: Terminal) -> None:
    world.create("digits")
    missing = terminal.run("logs", "digit")
    assert missing.code == 2
    assert missing.err == (
        f"modelexports/digit not found in namespace {world.namespace}\nDid you mean digits?\n"
    )
    elsewhere = terminal.run("submit", terminal.manifest("digits"), "-n", "nowhere")
    assert elsewhere.code == 2
    assert "has no namespace nowhere" in elsewhere.err
    invalid = terminal.run("submit", terminal.manifest("digits", source={"uri": "file://./m.pt"}))
    assert invalid.code == ExitCode.MANIFEST
    assert "spec.source.uri: file://./m.pt is a file of this machine" in invalid.err
    refused = terminal.run("submit", terminal.manifest("Digits_1"))
    assert refused.code == ExitCode.MANIFEST
    early = terminal.run("report", "digits")
    assert early.code == 2
    assert "no report yet" in early.err


def test_kubectl_runs_it_as_a_plugin(
    world: World, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    plugin = terminal.home / "kubectl-modelexport"
    plugin.write_text(
        f"#!{sys.executable}\nimport sys\nfrom modelexport_cli.main import kubectl\n"
        "sys.exit(kubectl())\n"
    )
    plugin.chmod(0o755)
    monkeypatch.setenv("PATH", f"{terminal.home}:{os.environ['PATH']}")
    monkeypatch.setenv("KUBECONFIG", str(terminal.kubeconfig))
    manifest = terminal.manifest("digits")
    done = subprocess.run(
        [golang.KUBERNETES.binary("kubectl"), "modelexport", "submit", manifest],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0
    assert "Follow its log: kubectl modelexport logs digits -f" in done.stderr
    assert world.exists("digits")


def test_what_a_user_may_not_do_is_named(world: World, terminal: Terminal) -> None:
    pair = world.plane.authority.issue("stranger", user="stranger")
    terminal.kubeconfig = world.plane.kubeconfig_for("stranger", pair)
    done = terminal.run("submit", terminal.manifest("digits"), "-n", world.namespace)
    assert done.code == 2
    assert (
        f"you may not create modelexports.modelexport.dev in namespace {world.namespace}: "
        in done.err
    )
    assert "kubectl auth can-i create" in done.err


def test_from_python(
    world: World,
    operator: Replica,
    terminal: Terminal,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("KUBECONFIG", str(terminal.kubeconfig))
    submission = submit(terminal.manifest("digits"))
    assert submission.created
    assert submission.namespace == world.namespace
    with pytest.raises(TimeoutError, match="has not ended within"):
        submission.wait(timeout=0.1, progress=False)
    fail(world, "digits")
    with pytest.raises(ExportFailedError) as caught:
        submission.wait(timeout=30)
    assert caught.value.failure.reason is Reason.VERIFICATION_FAILED
    assert caught.value.message == "found this, expected that"
    assert caught.value.hint == "do so"
    assert str(caught.value).startswith("digits: VerificationFailed: found this")
    assert caught.value.exit_code == ExitCode.VERIFICATION
    assert submission.status().phase == "Failed"
    assert not submit(terminal.manifest("digits").read_text()).created


@pytest.mark.s3
def test_a_checkpoint_on_s3_is_submitted_without_a_manifest(
    world: World, operator: Replica, terminal: Terminal, s3: S3Server, bucket: str
) -> None:
    """What it takes is found on the user's machine; the manifest names nothing of it."""
    import torch

    linear = torch.jit.script(torch.nn.Sequential(torch.nn.Linear(6, 2)))
    torch.jit.save(linear, str(terminal.home / "net.pt"))
    s3.client().upload_file(str(terminal.home / "net.pt"), bucket, "runs/net.pt")
    terminal.variables = s3.environment()
    uri = f"s3://{bucket}/runs/net.pt"
    more = ("--set", "storage.secretName=s3-credentials", "--dim", "batch=1..8")
    command = terminal.start("submit", uri, "--endpoint", s3.endpoint, *more)
    done = command.end(timeout=240.0)  # it imports torch and runs the model
    assert done.code == 0, done
    assert "Input     input: float32 [batch, 6]" in done.err
    spec = world.export("net")["spec"]
    assert spec["inputs"][0]["shape"] == ["batch", 6]
    assert spec["dims"] == {"batch": {"min": 1, "max": 8}}
    assert spec["destination"]["uri"] == f"s3://{bucket}/runs/net-onnx/"
