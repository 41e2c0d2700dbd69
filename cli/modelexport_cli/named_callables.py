"""Whether the callables of a spec can be imported, from the text of the code on this machine."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator

from modelexport_api.reasons import Reason
from modelexport_api.spec import ModelExportSpec
from modelexport_api.status import Stage
from modelexport_cli.code_on_disk import Code
from modelexport_cli.defined_names import names_in
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.user_code.missing_names import (
    Named,
    folder_that_holds,
    no_attribute,
    no_module,
)


def callables_of(spec: ModelExportSpec) -> Iterator[Named]:
    """Yield what a spec names as `package.module:callable`."""
    model, sampler = spec.model, spec.verification.sampler
    if model is not None and model.factory is not None:
        yield Named("model.factory", model.factory, "the torch.nn.Module")
    if model is not None and model.example_inputs is not None:
        yield Named("model.exampleInputs", model.example_inputs, "(args, kwargs) for forward")
    if sampler is not None:
        yield Named("verification.sampler", sampler, "a tensor for each input, by name")


def require_callable(named: Named, code: Code | None) -> None:
    """Raise ExportFailure if there is certainly no such module, or no such name in it."""
    module, _, attribute = named.path.partition(":")
    top = module.partition(".")[0]
    if code is None or not code.may_hold(top):
        _require_installed(named, top, code)
        return
    file = code.module_file(module)
    if file is not None:
        _require_defined(named, file, code.read(file), attribute.partition(".")[0])
    elif not code.may_hold(module) and not _looks_elsewhere(module, code):
        raise no_module(named, module, code.top)


def _looks_elsewhere(module: str, code: Code) -> bool:
    """Return whether a package may find its modules outside of its directory."""
    files = (code.module_file(module[:end]) for end in range(len(module)) if module[end] == ".")
    return any(file is not None and b"__path__" in code.read(file) for file in files)


def _require_installed(named: Named, top: str, code: Code | None) -> None:
    try:
        found = importlib.util.find_spec(top)
    except (ImportError, ValueError):  # ValueError: a module without a spec, which exists
        return
    if found is None:
        names = code.top if code is not None else None
        raise no_module(named, top, names, folder_that_holds(top, code.files if code else ()))


def _require_defined(named: Named, file: str, source: bytes, name: str) -> None:
    try:
        names = names_in(source)
    except SyntaxError as error:
        line = (error.text or "").strip()[:80]
        raise ExportFailure(
            Reason.FACTORY_FAILED,
            f"importing {named.path.partition(':')[0]} raised {type(error).__name__}: {error.msg} "
            f"({file}:{error.lineno}: {line})",
            "Correct the module; it must be importable without arguments or a GPU.",
            stage=Stage.LOAD,
        ) from None
    except (ValueError, RecursionError):
        return
    if names.lacks(name):
        public = [entry for entry in names.all if not entry.startswith("_")]
        own = [entry for entry in names.own if not entry.startswith("_")]
        raise no_attribute(named, file, name, public, own)
