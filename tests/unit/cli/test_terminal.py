"""The command in a real terminal (a pty), in a pipe, without colours and in narrow windows."""

from __future__ import annotations

import fcntl
import functools
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from dataclasses import dataclass
from pathlib import Path

import pytest

from modelexport_api.status import ModelExportStatus
from unit.cli.checkpoints import write_state_dict

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
COLOURS = re.compile(r"\x1b\[[0-9;]*(3[0-7]|9[0-7])[0-9;]*m")

PROGRAM = """
import sys, time
from modelexport_api.pod import PodResult
from modelexport_api.reasons import Reason
from modelexport_api.status import *
from modelexport_api.conditions import stages_of
from modelexport_api.spec import Mode
from modelexport_cli.log import open_log
from modelexport_cli.summary import print_summary

failed, verbose = sys.argv[1] == "failed", "verbose" in sys.argv
with open_log(sys.stderr, stages_of(Mode.EXPORT), verbose=verbose) as log:
    attempt = None

    def step(stage, percent, message):
        log.progress(Progress(stage=stage, percent=percent, message=message, attempt=attempt))
        time.sleep(0.2)

    step(Stage.FETCH, 0, "looking at file:///a/rather/long/path/to/a/checkpoint/of/a/model.pt")
    attempt = "attempt 1 of 4: Dynamo"
    step(Stage.LOAD, 20, "importing torch")
    for number in range(400):
        log.log("info", f"graph line {number} " + "x" * 300, worker=True)
    log.log("warning", "y: requested " + "a sentence without an end " * 80)
    log.log("warning", "Dynamo: CaptureFailed: no", failed=Reason.CAPTURE_FAILED,
            stage=Stage.CAPTURE, seconds=2.5)
    attempt = "attempt 2 of 4: DynamoStrict"
    step(Stage.LOAD, 20, "importing torch")
    log.log("info", "", stage=Stage.LOAD, result="42.1 M parameters", seconds=1.5)
    step(Stage.VERIFY, 70, "comparing at batch=64")
    if failed:
        log.fail(Failure(reason="VerificationFailed", message="no", stage="Verify"))
    else:
        step(Stage.PUBLISH, 90, "uploading")
        log.complete()
if failed:
    failure = Failure(reason="VerificationFailed", message="output y differs " * 12,
                      hint="Write the line with tensors.", stage="Verify")
    result = PodResult(outcome="Failed", failure=failure, report_uri="file:///out/report.json")
else:
    verification = VerificationResult(
        verdict="Verified", provider="CPU", samples=16, max_abs_error=1e-6, max_rel_error=5e-7,
        limit_share=1 / 198, tolerance_source="Calibrated")
    uri = "file:///a/directory/with/a/rather/long/name/for/narrow/terminals/"
    artifact = Artifact(uri=uri + "model.onnx", sha256="0" * 64, size_bytes=43100, opset=20,
                        ir_version=10, exporter="Dynamo (torch 2.15.0)", inputs=[], outputs=[])
    result = PodResult(outcome="Succeeded", verification=verification, artifact=artifact,
                       report_uri=uri + "report.json")
print_summary(result, None, 12.2, sys.stdout, "digits")
"""
BATCH = """
import sys, time
from modelexport_api.items import ShareCounts
from modelexport_api.reasons import Reason
from modelexport_api.status import Progress, Stage
from modelexport_cli.log import open_log

with open_log(sys.stderr) as log:
    for done in range(5):
        share = ShareCounts(share=0, batch_total=4, share_total=4, succeeded=max(0, done - 1),
                            failed=min(done, 1))
        message = f"fold-{done}.pt ({done + 1} of 4): comparing"
        log.progress(Progress(stage=Stage.VERIFY, percent=25 * done, message=message), share)
        time.sleep(0.2)
        log.log("info", f"printed for {done}", worker=True)
        if done < 4:
            expected = "verified, 2 s" if done else "Corrupt: " + "no good " * 90
            reason = None if done else Reason.WORKER_DIED
            log.log("info" if done else "warning", f"fold-{done}.pt: {expected}", item=done,
                    reason=reason)
"""


@dataclass(frozen=True)
class Shown:
    """The output of a program in a terminal."""

    raw: str

    @property
    def text(self) -> str:
        """Return it without colours; each frame starts on a new line."""
        frames = self.raw.replace("\r\n", "\n").replace("\r", "\n")
        return ESCAPES.sub("", frames)


@functools.cache
def in_terminal(*arguments: str, columns: int = 100, **environment: str) -> Shown:
    """Run Python with a pty of a width as stdin, stdout and stderr."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    kept = {name: value for name, value in os.environ.items() if name not in _OURS}
    process = subprocess.Popen(
        [sys.executable, *arguments],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env={**kept, "TERM": "xterm-256color", "PYTHONUTF8": "1", **environment},
        close_fds=True,
    )
    os.close(slave)
    chunks = []
    while True:
        try:
            chunk = os.read(master, 65536)
        except OSError:  # Linux reports a closed terminal as an error
            break
        if not chunk:
            break
        chunks.append(chunk)
    os.close(master)
    assert process.wait() == 0
    return Shown(b"".join(chunks).decode())


_OURS = frozenset({"NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES", "TERM", "PYTHONUTF8"})


def last_list(shown: Shown) -> dict[str, str]:
    """Return the last mark of each stage."""
    found = re.findall(r"^([✓✗·•]) (\w+)", shown.text, re.MULTILINE)
    return {stage: mark for mark, stage in found}


@pytest.mark.parametrize("columns", [40, 60, 100])
def test_a_success_shows_completed_stages_and_the_summary(columns: int) -> None:
    shown = in_terminal("-c", PROGRAM, "succeeded", columns=columns)
    assert last_list(shown)["Publish"] == "✓"
    assert last_list(shown)["Capture"] == "·", "the successful route skipped it"
    verdict = shown.text[shown.text.rindex("✓ Verified") :].splitlines()
    assert verdict[0].split() == ["✓", "Verified", "digits", "in", "12.2", "s"]
    assert "at most 1/198 of the tolerance (5.0e-7 relative)" in " ".join(verdict).replace("  ", "")
    path = "/a/directory/with/a/rather/long/name/for/narrow/terminals/"
    lines = [line.strip() for line in verdict]
    assert f"Artifact  {path}model.onnx" in lines, "a path is never broken"
    assert f"Report    {path}report.html" in lines
    assert f"{path}report.json" in lines


def test_a_failure_shows_message_and_hint() -> None:
    shown = in_terminal("-c", PROGRAM, "failed", columns=60)
    assert last_list(shown)["Verify"] == "✗"
    verdict = shown.text[shown.text.rindex("✗ Failed") :]
    lines = verdict.splitlines()
    assert lines[0] == "✗ Failed    digits: VerificationFailed in Verify, after 12.2"
    why = next(index for index, line in enumerate(lines) if line.startswith("  Message"))
    assert lines[why].endswith("output y"), "broken between words"
    assert lines[why + 1].startswith(" " * 12 + "differs output y"), "wrapped next to its label"
    assert all(len(line.rstrip()) <= 60 for line in lines if "/" not in line)
    assert "  Hint      Write the line with tensors." in lines
    assert "  Report    /out/report.html" in lines


@pytest.mark.parametrize("columns", [40, 80])
def test_long_messages_are_cut_and_worker_output_is_hidden(columns: int) -> None:
    shown = in_terminal("-c", PROGRAM, "failed", columns=columns)
    assert "graph line" not in shown.text
    assert "400 lines that the model's processes" in shown.text
    (warning,) = re.findall(r"y: requested [^…]*…", shown.text)
    assert len(warning) <= 3 * columns + 2
    one_line = " ".join(shown.text.split())
    assert "✗ attempt 1 of 4: Dynamo: CaptureFailed in Capture after 2.5 s" in one_line


def test_worker_output_is_shown_if_that_is_asked_for() -> None:
    shown = in_terminal("-c", PROGRAM, "succeeded", "verbose", columns=60)
    kept = [line for line in shown.text.splitlines() if line.startswith("  | graph line")]
    assert {int(line.split()[3]) for line in kept} == {*range(400)}
    assert all(len(line.rstrip()) <= 60 for line in kept)


@pytest.mark.parametrize("columns", [40, 80])
def test_the_attempt_is_named_and_rows_that_are_over_show_what_was_found(columns: int) -> None:
    shown = in_terminal("-c", PROGRAM, "succeeded", columns=columns)
    assert "\n  attempt 2 of 4: DynamoStrict" in shown.text
    last = shown.text[shown.text.rindex("✓ Fetch") :].splitlines()
    assert last[1].split() == ["✓", "Load", "42.1", "M", "parameters", "1.5", "s"]
    assert last[1].rstrip().endswith("1.5 s")
    assert last[1].index("1.5 s") + 5 <= columns
    assert "looking at" not in last[0]
    assert "comparing at" not in "".join(last)


@pytest.mark.parametrize("columns", [40, 60])
def test_stages_do_not_wrap_in_a_narrow_terminal(columns: int) -> None:
    shown = in_terminal("-c", PROGRAM, "succeeded", columns=columns)
    rows = [line for line in shown.text.splitlines() if re.match(r"^[✓✗·•] \w", line)]
    stages = [line for line in rows if "Verified" not in line]
    assert len(stages) > 14
    assert all(len(line.rstrip()) <= columns for line in stages)
    assert re.search(r" 70 % ━+", shown.text)


def test_no_color_is_honoured() -> None:
    assert COLOURS.search(in_terminal("-c", PROGRAM, "failed").raw)
    assert not COLOURS.search(in_terminal("-c", PROGRAM, "failed", NO_COLOR="1").raw)


def test_a_dumb_terminal_gets_plain_lines() -> None:
    shown = in_terminal("-c", PROGRAM, "succeeded", TERM="dumb")
    assert "\x1b" not in shown.raw
    assert " 70 %  Verify   comparing at batch=64" in shown.text


def test_a_pipe_gets_plain_lines() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, "failed"], capture_output=True, text=True, check=True
    )
    assert "\x1b" not in done.stdout + done.stderr
    lines = done.stderr.splitlines()
    assert lines[0].startswith("  0 %  Fetch    looking at file:///a/rather/long/path")
    assert not any("graph line" in line for line in lines)
    assert " 20 %  Load     ✓ 42.1 M parameters (1.5 s)" in lines
    assert "attempt 2 of 4: DynamoStrict" in lines
    assert sum(len(line) > 1000 for line in lines) == 1, "messages are whole, each in one line"
    assert done.stdout.splitlines()[1].startswith("  Message   output y differs output y differs")


def test_json_on_stdout_is_only_the_status_and_the_board_is_on_stderr(tmp_path: Path) -> None:
    manifest = tmp_path / "m.yaml"
    write_state_dict(tmp_path / "model.pt")
    spec = {
        "source": {"uri": "file://./model.pt", "sha256": "0" * 64},
        "model": {"factory": "json:loads"},
        "inputs": [{"name": "x"}],
        "destination": {"uri": "file://./out/"},
    }
    kind = {"apiVersion": "modelexport.dev/v1alpha1", "kind": "ModelExport"}
    manifest.write_text(json.dumps({**kind, "metadata": {"name": "m"}, "spec": spec}))
    arguments = ["run", str(manifest), "--output", "json", "--work-dir", str(tmp_path / "work")]
    answer = tmp_path / "answer.json"
    script = (
        "import sys; from modelexport_cli.main import main\n"
        f"sys.stdout = open({str(answer)!r}, 'w')\n"
        f"code = main({arguments!r}); sys.stdout.close(); sys.exit(code - 11)"
    )
    shown = in_terminal("-c", script)
    status = ModelExportStatus.model_validate_json(answer.read_text())
    assert status.failure is not None
    assert last_list(shown)["Fetch"] == "✗"
    assert "{" not in shown.text


@pytest.mark.parametrize("columns", [50, 100])
def test_a_batch_shows_a_bar_and_the_results(columns: int) -> None:
    text = in_terminal("-c", BATCH, columns=columns).text
    assert "✗ [1/4] fold-0.pt: Corrupt: no good" in text
    assert "✓ [4/4] fold-3.pt: verified, 2 s" in text
    assert "fold-2.pt (3 of 4): comparing" in text
    assert "printed for 0" in text, "it failed"
    assert "printed for 2" not in text
    assert re.search(r"100 % ━{4,32} 3 verified, 1 failed of 4", text), "the bar is full"
