"""How to use the artifact: snippets to paste, with its real names, shapes and dtypes. Pure."""

from __future__ import annotations

import keyword
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

from modelexport_api.sizes import dims_of
from modelexport_api.spec import InputKind
from modelexport_api.status import Artifact, TensorInfo
from modelexport_exporter.report.report import Report

_NUMPY = frozenset(
    {
        *("float16", "float32", "float64", "bool", "complex64", "complex128"),
        *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
    }
)
_TRITON = {"float16": "FP16", "float32": "FP32", "float64": "FP64", "bool": "BOOL"} | {
    f"{sign}int{bits}": f"{sign.upper()}INT{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)
}
_PROVIDERS = {"CPU": "CPUExecutionProvider"}
_LISTED = 4
"""Up to this number outputs are requested by name; beyond it, all are."""
_GPU = {"CUDA": "CUDAExecutionProvider", "TensorRT": "TensorrtExecutionProvider"}


@dataclass(frozen=True)
class Snippet:
    """Something to paste."""

    title: str
    language: str
    code: str
    note: str = ""


def snippets_of(report: Report) -> tuple[Snippet, ...]:
    """Return how to get, check and run the artifact; nothing where there is none."""
    artifact = report.artifact
    if artifact is None:
        return ()
    found = [_fetch_and_check(report, artifact), _onnxruntime(report, artifact)]
    if report.spec.get("destination", {}).get("layout") == "Triton":
        found.append(_triton(report, artifact))
    return tuple(found)


def _fetch_and_check(report: Report, artifact: Artifact) -> Snippet:
    base = str(report.spec.get("destination", {}).get("uri", "")).rstrip("/") + "/"
    if base.startswith("file://"):
        lines = [f"cd {shlex.quote(unquote(urlsplit(base).path))}"]
    elif base.startswith("pvc://"):
        claim = base.removeprefix("pvc://").partition("/")[0]
        lines = [f"# in a pod that mounts the PersistentVolumeClaim {claim} at /mnt"]
        lines += [f"cd {shlex.quote(_in_pod(base))}"]
    else:
        endpoint = report.spec.get("storage", {}).get("endpoint")
        option = f" --endpoint-url {shlex.quote(str(endpoint))}" if endpoint else ""
        lines = [f"aws s3 cp --recursive{option} {shlex.quote(base)} ."]
    sums = [f"{file.sha256}  {file.name}" for file in artifact.files]
    lines += ["sha256sum -c <<'END'", *sums, "END"]
    return Snippet("Get the files and check them", "sh", "\n".join(lines))


def _in_pod(uri: str) -> str:
    """Return the path of what is in a volume, where its claim is mounted at /mnt."""
    return "/mnt/" + uri.removeprefix("pvc://").partition("/")[2]


def _onnxruntime(report: Report, artifact: Artifact) -> Snippet:
    path = unquote(artifact.uri.rsplit("/", 1)[-1])
    if report.spec.get("destination", {}).get("layout") == "Triton":
        path = f"1/{path}"
    names = [tensor.name for tensor in artifact.outputs]
    asked = repr(names) if len(names) <= _LISTED else "None"
    lines = [
        "import numpy as np",
        "import onnxruntime as ort",
        "",
        f"session = ort.InferenceSession({path!r}, providers={_providers(report)!r})",
        *_feed(report, artifact.inputs),
        f"outputs = session.run({asked}, feed)",
        "for name, value in zip([entry.name for entry in session.get_outputs()], outputs):",
        "    print(name, value.dtype, value.shape)",
    ]
    return Snippet("Run it with onnxruntime", "python", "\n".join(lines), _note(report))


def _providers(report: Report) -> list[str]:
    cpu = _PROVIDERS["CPU"]
    ran = report.verification.provider if report.verification else ""
    return [_GPU[ran], cpu] if ran in _GPU else [cpu]


def _feed(report: Report, inputs: Sequence[TensorInfo]) -> Iterator[str]:
    """Yield the sizes of dynamic dims, and an array of the smallest value for each input."""
    sizes = _sizes(report.spec, inputs)
    if sizes:
        yield from (f"{name} = {length}" for name, length in sizes.items())
    lowest = _lowest(report.spec)
    yield "feed = {"
    for tensor in inputs:
        shape = ", ".join(_length(length, sizes) for length in tensor.shape)
        shape = f"({shape},)" if len(tensor.shape) == 1 else f"({shape})"
        dtype = "np.bool_" if tensor.dtype == "bool" else f"np.{tensor.dtype}"
        if tensor.dtype not in _NUMPY:
            yield f"    # {tensor.name!r}: {tensor.dtype} has no numpy type; use ort.OrtValue"
            continue
        low = lowest.get(tensor.name)
        call = f"np.full({shape}, {low!r}, {dtype})" if low else f"np.zeros({shape}, {dtype})"
        yield f"    {tensor.name!r}: {call},"
    yield "}"


def _sizes(spec: dict[str, Any], inputs: Sequence[TensorInfo]) -> dict[str, int]:
    """Return a size for each dynamic dim that can be a variable."""
    dims: dict[str, Any] = spec.get("dims", {})
    names = dict.fromkeys(
        name
        for tensor in inputs
        for length in tensor.shape
        if isinstance(length, str)
        for name in _names_in(length)
    )
    return {
        name: max(1, int(dims.get(name, {}).get("min", 1)))
        for name in names
        if name.isidentifier() and not keyword.iskeyword(name) and name not in _TAKEN
    }


_TAKEN = frozenset({"np", "ort", "session", "feed", "outputs", "name", "value", "zip", "print"})


def _length(length: int | str, sizes: dict[str, int]) -> str:
    if isinstance(length, int):
        return str(length)
    return length if {*_names_in(length)} <= {*sizes} else "1"


def _names_in(length: str) -> tuple[str, ...]:
    """Return the dims of `n`, `n - 1` and `p + t`; other text as it is."""
    try:
        return dims_of(length)
    except ValueError:
        return (length,)


def _lowest(spec: dict[str, Any]) -> dict[str, float | int]:
    """Return what to fill an input with whose range does not hold 0."""
    found: dict[str, float | int] = {}
    for entry in spec.get("inputs", []):
        kept = entry.get("kind") == InputKind.ATTENTION_MASK.value
        low, high = (1, 1) if kept else entry.get("range") or (0, 0)
        if low > 0 or high < 0:
            whole = "int" in str(entry.get("dtype", "float32"))
            found[str(entry.get("name"))] = int(low) if whole else float(low)
    return found


def _note(report: Report) -> str:
    export = report.spec.get("export", {})
    notes = []
    if export.get("weights") == "Omitted":
        notes.append("The weights are inputs, too: feed each by its name in the checkpoint.")
    if export.get("runtimeLibraries"):
        notes.append(
            "The file has custom operators: register their libraries with "
            "SessionOptions.register_custom_ops_library."
        )
    if export.get("unsupportedOps") == "FallThrough":
        notes.append("Operators that fell through to PyTorch need a runtime that brings them.")
    return " ".join(notes)


def _triton(report: Report, artifact: Artifact) -> Snippet:
    base = str(report.spec["destination"]["uri"]).rstrip("/")
    repository, _, name = base.rpartition("/")
    repository = _in_pod(repository) if base.startswith("pvc://") else repository
    lines = [
        f"# tritonserver --model-repository={shlex.quote(repository)}",
        "import numpy as np",
        "import tritonclient.http as triton",
        "",
        'client = triton.InferenceServerClient("localhost:8000")',
        *_feed(report, artifact.inputs),
        "inputs = []",
        f"datatypes = {[_TRITON.get(t.dtype, t.dtype.upper()) for t in artifact.inputs]!r}",
        "for (name, array), datatype in zip(feed.items(), datatypes):",
        "    entry = triton.InferInput(name, list(array.shape), datatype)",
        "    inputs.append(entry.set_data_from_numpy(array))",
        f"answer = client.infer({name!r}, inputs)",
        f"print(answer.as_numpy({artifact.outputs[0].name!r}))",
    ]
    return Snippet("Serve it with Triton", "python", "\n".join(lines))
