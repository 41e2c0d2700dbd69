"""Attacks by what workers say: answers, progress, digests, names, metadata, verdicts."""

from __future__ import annotations

import atexit
import importlib
import json
import os
import pickle
import stat
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from victim import EXPORT, REFERENCE, Attack, Net

Aim = dict[str, str]
_WRONG = 1.0
_RESULT = b'{"kind":"result","value":{"verdict":"Verified"}}\n'


def _sockets() -> list[int]:
    """Return the sockets that lead to the supervisor, or anywhere."""
    found = []
    for entry in list(Path("/proc/self/fd").iterdir()):
        try:
            if stat.S_ISSOCK(os.fstat(int(entry.name)).st_mode):
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def _write(data: bytes, times: int = 1) -> None:
    for number in _sockets():
        for _ in range(times):
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(number, rest) :]


class _Payload:
    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Callable[..., object], tuple[str]]:
        return os.mkdir, (self.path,)


def _sends(data: Callable[[Aim], bytes], times: int = 1) -> Attack:
    def attack(_role: str, aim: Aim) -> None:
        _write(data(aim), times)

    return attack


def _progress(stage: str, fraction: str = "1") -> bytes:
    message = f'"stage":"{stage}","fraction":{fraction},"text":"FORGED {stage}"'
    return f'{{"kind":"progress",{message}}}\n'.encode()


def verdict_of_another(role: str, _aim: Aim) -> Net | None:
    """Answer for the verifier, from the exporter: its file is wrong."""
    if role != EXPORT:
        return None
    threading.Timer(1, _write, [_RESULT]).start()
    return Net(_WRONG)


def every_descriptor(role: str, _aim: Aim) -> Net | None:
    """Write a verdict to all that is open, whoever reads there."""
    if role == EXPORT:
        return Net(_WRONG)
    for entry in list(Path("/proc/self/fd").iterdir()):
        try:
            if int(entry.name) > 2:
                os.write(int(entry.name), _RESULT)
        except OSError:
            continue
    return None


def log_lines(_role: str, _aim: Aim) -> None:
    """Print what the operator would take for the supervisor's progress."""
    progress = {"stage": "Publish", "percent": 100, "message": "FORGED"}
    line = {"time": "2026-01-01T00:00:00Z", "level": "info", "message": "FORGED"}
    for stream in (sys.stdout, sys.stderr):
        print(json.dumps({**line, "progress": progress, "fields": {}}), file=stream, flush=True)
    os.write(2, b'\n{"outcome":"Succeeded"}\n')


def _patched(module: str, name: str, by: Callable[[Any], Any]) -> None:
    """Replace a function in a module of the exporter, and wherever it was imported."""
    original = getattr(importlib.import_module(module), name)
    for loaded in list(sys.modules.values()):
        if getattr(loaded, name, None) is original:
            setattr(loaded, name, by(original))


def _files(change: Callable[[Any], Any]) -> Attack:
    """Change what the exporter says of the files that it wrote."""

    def attack(role: str, _aim: Aim) -> None:
        def by(original: Any) -> Any:  # noqa: ANN401
            return lambda *given, **named: change(original(*given, **named))

        if role == EXPORT:
            importlib.import_module("modelexport_exporter.workers.export")
            _patched("modelexport_exporter.onnx_file.write", "write_model", by)

    return attack


def _named(name: str) -> Attack:
    return _files(lambda files: (*files, replace(files[0], name=name)))


def _after_write(act: Callable[[Path], object]) -> Attack:
    """Do something to the file when it is written, and state the digest of what is there."""

    def attack(role: str, _aim: Aim) -> None:
        import hashlib

        def by(original: Any) -> Any:  # noqa: ANN401
            def write(model: Any, directory: Path, *rest: Any) -> Any:  # noqa: ANN401
                files = original(model, directory, *rest)
                path = directory / files[0].name
                act(path)
                content = path.read_bytes()
                digest = hashlib.sha256(content).hexdigest()
                own = replace(files[0], size_bytes=len(content), sha256=digest)
                return (own, *files[1:])

            return write

        if role == EXPORT:
            importlib.import_module("modelexport_exporter.workers.export")
            _patched("modelexport_exporter.onnx_file.write", "write_model", by)

    return attack


def _metadata(path: Path) -> None:
    """State a verdict and a source of its own in the file."""
    import onnx

    model = onnx.load(path)
    for key in ("verdict", "source.sha256", "spec.sha256", "exporter"):
        model.metadata_props.add(key=f"modelexport.{key}", value="FORGED")
    model.doc_string = "FORGED"
    path.write_bytes(model.SerializeToString())


def _external_data(path: Path) -> None:
    """Let the file read its weights outside of its directory."""
    import onnx

    model = onnx.load(path)
    for tensor in model.graph.initializer:
        size = len(tensor.raw_data)
        tensor.ClearField("raw_data")
        tensor.data_location = onnx.TensorProto.EXTERNAL
        for key, value in (("location", "../../../../../etc/passwd"), ("length", str(size))):
            tensor.external_data.add(key=key, value=value)
    path.write_bytes(model.SerializeToString())


def _in_reference(act: Callable[[], object]) -> Attack:
    """Export a wrong file, and change the judgement in the process that knows the right answer."""

    def attack(role: str, _aim: Aim) -> Net | None:
        if role == REFERENCE:
            act()
            return None
        return Net(_WRONG)

    return attack


def _verdict() -> None:
    from modelexport_api.status import Verdict

    importlib.import_module("modelexport_exporter.workers.verify")
    verdict = "modelexport_exporter.verification.verdict"
    _patched(verdict, "verdict_on", lambda _original: lambda *_: Verdict.VERIFIED)


def _outcome() -> None:
    """Let the verification end as one that agreed."""
    from modelexport_api.status import Verdict
    from modelexport_exporter.workers import one_verification

    original = one_verification.Verification.outcome

    def outcome(self: Any, seconds: float) -> Any:  # noqa: ANN401
        found = original(self, seconds)
        summary = found.summary.model_copy(update={"verdict": Verdict.VERIFIED})
        return replace(found, summary=summary)

    one_verification.Verification.outcome = outcome


def _runtime() -> None:
    """Let onnxruntime answer what the honest model answers."""
    import onnxruntime

    original = onnxruntime.InferenceSession.run

    def run(self: Any, names: Any, feeds: Any, *rest: Any) -> Any:  # noqa: ANN401
        return [found - _WRONG for found in original(self, names, feeds, *rest)]

    onnxruntime.InferenceSession.run = run


def _numbers() -> None:
    """Let numpy find everything close."""
    import numpy as np

    np.allclose = lambda *_given, **_named: True
    np.isclose = lambda a, *_given, **_named: np.ones(np.shape(a), bool)
    np.abs = np.absolute = lambda a, *_given, **_named: np.zeros_like(a)


def _file() -> None:
    """Verify the right file in the place of the wrong one: its graph is corrected as it is read."""
    import onnxruntime

    session = onnxruntime.InferenceSession

    class Corrected(session):  # type: ignore[misc,valid-type]
        def run(self, *given: Any, **named: Any) -> Any:  # noqa: ANN401
            return [found - _WRONG for found in super().run(*given, **named)]

    onnxruntime.InferenceSession = Corrected


def at_exit(role: str, aim: Aim) -> None:
    """Go on when the worker has answered: by atexit, by a thread, in place of os._exit."""

    def later(*_given: object) -> None:
        for path in Path(aim["work"]).glob("modelexport-run-*/out/*/model.onnx"):
            path.write_bytes(b"FORGED")
        _write(_RESULT)

    atexit.register(later)
    os._exit = later  # type: ignore[assignment]
    threading.Timer(0.5, later).start()
    print(f"{role} goes on")


def _pickled(aim: Aim) -> bytes:
    return pickle.dumps(("result", _Payload(aim["outside"] + "/pwned"))) + b"\n"


ATTACKS: dict[str, Attack] = {
    "pickle": _sends(_pickled),
    "second answer": _sends(lambda _aim: _RESULT),
    "garbage": _sends(lambda _aim: os.urandom(1 << 16) + b"\n"),
    "gigabyte message": _sends(lambda _aim: b"x" * (1 << 20), 1024),
    "nested message": _sends(lambda _aim: b'{"kind":' + b"[" * 100_000 + b"\n"),
    "forged stage": _sends(lambda _aim: _progress("Publish")),
    "forged fraction": _sends(lambda _aim: _progress("Load", "1e308")),
    "verdict of another": verdict_of_another,
    "every descriptor": every_descriptor,
    "log lines": log_lines,
    "false digest": _files(lambda files: (replace(files[0], sha256="0" * 64), *files[1:])),
    "false size": _files(lambda files: (replace(files[0], size_bytes=1 << 40), *files[1:])),
    "path traversal": _named("../../outside/mine"),
    "name of the manifest": _named("manifest.json"),
    "name of foreign data": _named("model.0123456789ab.data"),
    "forged metadata": _after_write(_metadata),
    "external data outside": _after_write(_external_data),
    "at exit": at_exit,
    "verdict in the reference": _in_reference(_verdict),
    "outcome in the reference": _in_reference(_outcome),
    "runtime in the reference": _in_reference(_runtime),
    "numpy in the reference": _in_reference(_numbers),
    "session in the reference": _in_reference(_file),
}
