"""The user's factory: imported, called, and held responsible for what it does.

Guarantees that every error in user code ends in FactoryNotFound or FactoryFailed with the
line of that code, never in a traceback; and that what it returns is the bare network.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from modelexport_api.reasons import Reason
from modelexport_api.spec import Model
from modelexport_exporter.core import closed_network
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.out_of_memory import reraise_out_of_memory
from modelexport_exporter.user_code.missing_names import Named
from modelexport_exporter.user_code.named_callable import describe_error, find_callable
from modelexport_exporter.user_code.wrappers import as_module, unwrapped

Factory = Callable[[], torch.nn.Module]


def find_factory(model: Model, code_dir: Path | None) -> Factory:
    """Import the factory, the code's root first on sys.path, and bind its arguments."""
    assert model.factory is not None
    named = Named("model.factory", model.factory, "the torch.nn.Module")
    function = find_callable(named, code_dir)
    return lambda: _call(function, model, code_dir)


def _call(function: Callable[..., Any], model: Model, code_dir: Path | None) -> torch.nn.Module:
    try:
        module = as_module(function(**model.kwargs))
    except BaseException as error:
        reraise_out_of_memory(error)
        given = ", ".join(model.kwargs) or "none"
        raise ExportFailure(
            Reason.FACTORY_FAILED,
            f"{model.factory} raised {describe_error(error, code_dir)}",
            closed_network.advice(error)
            or f"Correct the factory, or model.kwargs (given: {given}).",
        ) from error
    if not isinstance(module, torch.nn.Module):
        raise ExportFailure(
            Reason.FACTORY_FAILED,
            f"{model.factory} returned a {type(module).__name__}, not a torch.nn.Module",
            "Return the module itself, with no weights loaded; or a function that torch.jit.script "
            "or torch.jit.trace compiled.",
        )
    return unwrapped(module)
