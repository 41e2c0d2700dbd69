"""Files that forward reads or writes: the graph keeps what one of them held at the export."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from modelexport_exporter.core.pitfall import Pitfall, PitfallKind
from modelexport_exporter.diagnosis.pitfalls.forward_code import ForwardCode

_FUNCTIONS = frozenset(
    {
        "open", "io.open", "json.load", "json.dump", "pickle.load", "pickle.dump", "torch.load",
        "torch.save", "numpy.load", "numpy.loadtxt", "numpy.genfromtxt", "numpy.fromfile",
        "numpy.save", "numpy.savez", "numpy.savetxt", "pandas.read_csv", "pandas.read_parquet",
    }
)  # fmt: skip
_METHODS = frozenset({"read_text", "read_bytes", "write_text", "write_bytes"})


def find(code: ForwardCode) -> Iterator[Pitfall]:
    """Yield calls that read or write a file."""
    for call in code.walk(ast.Call):
        method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        if code.dotted(call.func) in _FUNCTIONS or method in _METHODS:
            yield Pitfall(
                PitfallKind.STATE,
                f"`{code.text(call)}` reads or writes a file in forward: the exported model has no "
                "access to it, and keeps what it held once",
                code.place(call),
                "Read it in __init__ into a buffer (register_buffer), or take its content as an "
                "input of forward.",
            )
