"""ExportedProgram archives, opened only when nothing in them is known to run code.

torch.export.load is no sandbox: it unpickles sample inputs, evaluates shapes and guards as Python,
and resolves operator names by walking the torch package. Guarantees that an archive which uses any
of that for more than tensors and operators is UnsafeCheckpoint unless the spec trusts it.
"""

from __future__ import annotations

import os
import re
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from modelexport_api.reasons import Reason
from modelexport_exporter.core.archives import open_archive
from modelexport_exporter.core.bounded_json import read_json
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.foreign_messages import WEIGHTS_ONLY
from modelexport_exporter.core.out_of_memory import reraise_out_of_memory

_SAFE_TARGET = re.compile(
    r"(torch\.ops(\.\w+){2,3}|torch\._?sym_\w+|torch\.\w*SymInt\w*|_operator\.\w+|math\.\w+"
    r"|torch\._higher_order_ops(\.\w+)+|torch\._export\.non_strict_utils\.\w+)"
)
_NAME = re.compile(r"[\w.]*")
_SYMBOL = re.compile(
    r"Symbol\('\w+'(, \w+=(True|False))*\)"  # how shapes name a symbol
    r"|L\['\w+'\](\[('\w+'|\d+)\])*(\.(size|stride)\(\)\[\d+\]|\.storage_offset\(\))?"  # guards
    r"|'[\d.e+-]+'"  # a number with its precision
)
_CALL = re.compile(r"([A-Za-z_]\w*)\s*\(")
_EXPRESSION = re.compile(r"[\w\s+\-*/%(),.<>=!&|~]*")
# fmt: off
_SAFE_CALLS = frozenset((
    "Integer", "Rational", "Float", "Add", "Mul", "true", "false",
    "Max", "Min", "Mod", "PythonMod", "FloorDiv", "CleanDiv", "CeilDiv", "CeilToInt",
    "FloorToInt", "TruncToInt", "TruncToFloat", "IntTrueDiv", "FloatTrueDiv", "ToFloat",
    "RoundToInt", "RoundDecimal", "Where", "PowByNatural", "FloatPow", "Pow",
    "ModularIndexing", "LShift", "RShift", "Identity", "Eq", "Ne", "Gt", "Ge", "Lt", "Le",
    "And", "Or", "Not", "Abs", "Piecewise", "sqrt", "floor", "ceiling", "log", "exp",
    "VR", "ValueRanges", "IsNonOverlappingAndDenseIndicator",
))
# fmt: on
_EXECUTABLE = ("data/aotinductor/", "data/constants/opaque_obj_", "data/constants/custom_obj_")
_MOST_VALUES, _MOST_BYTES = 20_000_000, 512 << 20
"""Of a graph. Each node takes 100 values or more."""
_HINT = (
    "Export a state_dict with model.factory instead. Only if you trust the archive as you trust "
    "your own code: source.allowPickle: true."
)


def load_exported_program(path: Path, *, allow_pickle: bool) -> torch.export.ExportedProgram:
    """Return the program, its weights on the CPU."""
    if not allow_pickle:
        _refuse_code(path)
    try:
        with (
            _weights_only(force=not allow_pickle),
            warnings.catch_warnings(),
            path.open("rb") as file,
        ):
            warnings.simplefilter("ignore")
            return torch.export.load(file)
    except Exception as error:
        reraise_out_of_memory(error)
        text = " ".join(str(error).split())[:300]
        if WEIGHTS_ONLY in text.lower():
            raise _unsafe(path, "it holds pickled Python objects") from error
        raise ExportFailure(
            Reason.CHECKPOINT_CORRUPT,
            f"{path.name} cannot be loaded by torch {torch.__version__}: {text}",
            "Save the program again with torch.export.save and this version of torch.",
        ) from error


@contextmanager
def _weights_only(*, force: bool) -> Iterator[None]:
    """Keep torch.export.load from falling back to an unrestricted unpickler."""
    name = "TORCH_FORCE_WEIGHTS_ONLY_LOAD"
    before = os.environ.get(name)
    if force:
        os.environ[name] = "1"
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = before


def _refuse_code(path: Path) -> None:
    try:
        with open_archive(path) as archive:
            names = archive.namelist()
            graphs = [
                read_json(archive.read(name), values=_MOST_VALUES, size=_MOST_BYTES)
                for name in names
                if name.endswith(".json") and "/models/" in name
            ]
    except (zipfile.BadZipFile, ValueError) as error:
        raise ExportFailure(
            Reason.CHECKPOINT_CORRUPT,
            f"{path.name} is a damaged ExportedProgram: {error}",
            "Upload the archive again, and compare its size with the original.",
        ) from error
    for name in names:
        if name.partition("/")[2].startswith(_EXECUTABLE):
            raise _unsafe(path, f"it holds {name}")
    for graph in graphs:
        _refuse_code_in_graph(path, graph)


def _refuse_code_in_graph(path: Path, document: Any) -> None:  # noqa: ANN401
    for key, value in _strings(document):
        if key == "target" and value.startswith(("torch", "_operator", "math")):
            if _SAFE_TARGET.fullmatch(value) is None:
                raise _unsafe(path, f"its graph calls {value[:100]}")
        elif key in {"expr_str", "guards_code"} and not is_plain_expression(value):
            raise _unsafe(path, f"it evaluates {value[:100]!r}")
        elif key == "name" and _NAME.fullmatch(value) is None:
            raise _unsafe(path, f"a name in its graph is {value[:100]!r}")


def is_plain_expression(text: str) -> bool:
    """Return whether it is only arithmetic over symbols and sizes: Python could evaluate more."""
    bare = _SYMBOL.sub("s", text)
    return (
        _EXPRESSION.fullmatch(bare) is not None
        and "__" not in bare
        and re.search(r"\.\s*[A-Za-z_]", bare) is None
        and all(
            name in _SAFE_CALLS or name.startswith("OpaqueUnaryFn_") for name in _CALL.findall(bare)
        )
    )


def _strings(document: Any, key: str = "") -> Iterator[tuple[str, str]]:  # noqa: ANN401
    if isinstance(document, dict):
        for name, value in document.items():
            yield from _strings(value, name)
    elif isinstance(document, list):
        for value in document:
            yield from _strings(value, key)
    elif isinstance(document, str):
        yield key, document


def _unsafe(path: Path, what: str) -> ExportFailure:
    return ExportFailure(
        Reason.UNSAFE_CHECKPOINT,
        f"{path.name} is an ExportedProgram that would run code when it is loaded: {what}",
        _HINT,
    )
