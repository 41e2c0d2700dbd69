"""What must hold after any attack: judged from the bucket, the log, the status and /proc."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from chaos.attacks.cases import BATCH, PUBLISHED, Case
from chaos.attacks.pod import Ended
from modelexport_api.pod import MAX_TERMINATION_BYTES, PodResult, parse_log_line
from modelexport_api.reasons import EXIT_CODES, ExitCode
from modelexport_api.status import Stage

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_LONGEST_LOG = 16 << 20
_LATE_SECONDS = 60
_FORGED = "FORGED"
"""A worker's progress in a stage of its own may say anything."""
_SCRIPT = b"<script>alert(1)"


@dataclass(frozen=True)
class Broken:
    """A promise that was not kept."""

    kind: str
    """lost, wrong or leaked, as in the journal."""
    what: str


def judge(case: Case, ended: Ended, expected: Any) -> list[Broken]:  # noqa: ANN401
    """Return the promises that were broken; `expected`: of the honest model, by its inputs."""
    return [
        *_secrets(ended),
        *_access(case, ended),
        *_end(case, ended),
        *_artifacts(case, ended, expected),
        *_texts(ended),
    ]


def _secrets(ended: Ended) -> Iterator[Broken]:
    places = {"log": ended.log, "termination message": ended.termination, **ended.objects}
    for name, secret in ended.machine.canaries.items():
        for form in _forms(secret):
            for place, content in places.items():
                if form in content:
                    yield Broken("leaked", f"{name} in {place}")


def _forms(secret: str) -> Iterator[bytes]:
    raw = secret.encode()
    yield from (raw, raw.hex().encode(), base64.b64encode(raw).rstrip(b"=")[:-1], raw[::-1])


def _access(case: Case, ended: Ended) -> Iterator[Broken]:
    if f"RAN {case.name} as ".encode() not in ended.log:
        yield Broken("lost", "the attack did not run")
    for found in re.findall(rb"GOT-IN [^\"\\]{,120}", ended.log):
        yield Broken("leaked", found.decode(errors="replace"))
    if not ended.machine.is_untouched:
        yield Broken("leaked", "files outside of the run were changed")
    if ended.alive:
        yield Broken("leaked", f"{len(ended.alive)} processes outlived the run: {ended.alive[0]}")
    if ended.machine.left_over:
        yield Broken("leaked", f"directories were left: {ended.machine.left_over}")
    if "stolen" in ended.objects:
        yield Broken("leaked", "an object of the model's code is in the bucket")


def _end(case: Case, ended: Ended) -> Iterator[Broken]:
    if ended.exit_code is None or ended.seconds > case.seconds + _LATE_SECONDS:
        yield Broken("lost", f"it took {ended.seconds:.0f} s, its deadline is {case.seconds} s")
        return
    result = ended.result
    if result is None:
        yield Broken("wrong", f"the termination message is no result: {ended.termination[:200]!r}")
        return
    end = result.outcome if result.failure is None else result.failure.reason
    if end not in case.ends:
        message = result.failure.message if result.failure else ""
        yield Broken("wrong", f"it ended as {end}: {message[:300]}")
    if ended.exit_code != _exit_code(result):
        yield Broken("wrong", f"exit code {ended.exit_code} of {end}")
    if not case.batch and (end == PUBLISHED) != ("out/manifest.json" in ended.objects):
        yield Broken("wrong", f"it ended as {end}, and a manifest says something else")
    if len(ended.termination) > MAX_TERMINATION_BYTES:
        yield Broken("wrong", f"the termination message has {len(ended.termination)} bytes")


def _exit_code(result: PodResult) -> int:
    return int(ExitCode.DONE if result.failure is None else EXIT_CODES[result.failure.reason])


def _artifacts(case: Case, ended: Ended, expected: Any) -> Iterator[Broken]:  # noqa: ANN401
    inputs, outputs = expected
    if not case.batch:
        yield from _artifact(ended, "out/", (inputs, outputs["model"]))
        return
    for name in BATCH:
        yield from _artifact(ended, f"out/{name}/", (inputs, outputs[name]))


def _artifact(ended: Ended, root: str, expected: Any) -> Iterator[Broken]:  # noqa: ANN401
    """Yield what is wrong for readers of the manifest, and of plain names."""
    below = [key for key in ended.objects if key.startswith(root)]
    content = ended.objects.get(f"{root}manifest.json")
    if content is None:
        published = [key for key in below if key.endswith((".onnx", ".data"))]
        if visible := [key for key in published if not key.startswith(f"{root}failed/")]:
            yield Broken("wrong", f"without a manifest there is {visible}")
        return
    manifest = json.loads(content)
    for file in manifest["artifact"]["files"]:
        named = manifest["contents"][file["name"]]["path"]
        for key in {f"{root}{named}", f"{root}{file['name']}"}:
            found = ended.objects.get(key)
            if found is None or hashlib.sha256(found).hexdigest() != file["sha256"]:
                yield Broken("wrong", f"{key} is not what the manifest says")
    allowed = {f"{root}{file['name']}" for file in manifest["artifact"]["files"]}
    allowed |= {f"{root}manifest.json"}
    allowed |= {f"{root}{entry['path']}" for entry in manifest["contents"].values()}
    if foreign := set(below) - allowed:
        yield Broken("leaked", f"objects that no manifest names: {sorted(foreign)[:3]}")
    yield from _model(ended.objects[f"{root}model.onnx"], manifest, expected)


def _model(content: bytes, manifest: dict[str, Any], expected: Any) -> Iterator[Broken]:  # noqa: ANN401
    import numpy as np
    import onnxruntime

    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    inputs, outputs = expected
    (found, *_) = session.run(None, {session.get_inputs()[0].name: inputs})
    if not np.allclose(found, outputs, atol=1e-4):
        yield Broken("wrong", f"the file that is published differs by {abs(found - outputs).max()}")
    stated = session.get_modelmeta().custom_metadata_map
    for key, value in (("verdict", "Verified"), ("spec.sha256", manifest["specSha256"])):
        if stated.get(f"modelexport.{key}") != value:
            yield Broken("wrong", f"the file says {key} {stated.get(f'modelexport.{key}')!r}")
    if "FORGED" in str(stated) or b"FORGED" in io.BytesIO(content).getvalue():
        yield Broken("wrong", "forged metadata are in the file")


def _texts(ended: Ended) -> Iterator[Broken]:
    if len(ended.log) > _LONGEST_LOG:
        yield Broken("leaked", f"the log has {len(ended.log)} bytes")
    for line in ended.log.decode(errors="replace").splitlines():
        parsed = parse_log_line(line)
        if parsed is None:
            yield Broken("wrong", f"a line of the log is none: {line[:120]!r}")
            break
        progress = parsed.progress
        if progress is not None and progress.stage is Stage.PUBLISH and _FORGED in progress.message:
            yield Broken("wrong", "forged progress is in the log")
        if _CONTROL.search(parsed.message):
            yield Broken("wrong", f"control characters in the log: {parsed.message[:120]!r}")
            break
    text = ended.termination.decode(errors="replace")
    shown = "".join(_strings(json.loads(text))) if text.startswith("{") else text
    if _CONTROL.search(shown):
        yield Broken("wrong", f"control characters in the status: {shown[:120]!r}")
    for key, content in ended.objects.items():
        if key.endswith(".html") and (_SCRIPT in content or b"onerror=alert" in _tags(content)):
            yield Broken("wrong", f"a script of the model in {key}")


def _strings(value: object) -> Iterator[str]:
    """Yield the texts of a JSON document."""
    if isinstance(value, dict):
        value = [*value.values()]
    if isinstance(value, list):
        for inner in value:
            yield from _strings(inner)
    elif isinstance(value, str):
        yield value


def _tags(page: bytes) -> bytes:
    return b" ".join(re.findall(rb"<img[^>]*>", page))
