"""Functions that torch.jit.script compiles as the exporter lets it."""

# mypy: ignore-errors

from __future__ import annotations

import torch

from modelexport_exporter.torch_internals.script_annotations import readable_signatures


def compiled_as_python(function, size: int):  # noqa: ANN001
    """Return the compiled function; fail unless it returns what Python does for [size, 3]."""
    with readable_signatures({}):
        script = torch.jit.script(function)
    x = torch.randn(size, 3)
    torch.testing.assert_close(script(x), function(x))
    return script
