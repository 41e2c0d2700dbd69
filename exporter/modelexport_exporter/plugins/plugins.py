"""All plugins of an export, loaded: the hooks that export and verification call.

load_plugins -> Plugins.registered (TorchScript), .translations, .decompositions (torch.export)
             -> .complete (the file) -> .configure_session (the runtime)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import onnx_ir as ir
from torch.export import ExportedProgram

from modelexport_api.reasons import Reason
from modelexport_api.spec import Exporter, ModelExportSpec, UnsupportedOps
from modelexport_api.status import Stage
from modelexport_exporter.core.errors import ExportFailure, RouteFallback
from modelexport_exporter.core.types import (
    ROUTES,
    ContractFinding,
    ExportTask,
    FactoryProgress,
    ReportProgress,
)
from modelexport_exporter.core.user_frame import text_of, user_frame
from modelexport_exporter.onnx_file.read_back import ArtifactFacts
from modelexport_exporter.plugins.contents import Contents, clash_of_symbolics
from modelexport_exporter.plugins.fall_through.torch_nodes import host_nodes_in_torch
from modelexport_exporter.plugins.fall_through.torchscript import (
    let_operators_fall_through,
    restore_domains,
)
from modelexport_exporter.plugins.imports import import_plugin
from modelexport_exporter.plugins.legacy.older_torch import older_torch, record_exports
from modelexport_exporter.plugins.onnx_functions import add_functions, set_opsets
from modelexport_exporter.plugins.runtime import SessionSetup, foreign_operators, register_libraries
from modelexport_exporter.plugins.static_symbolics import find_static_symbolics
from modelexport_exporter.plugins.symbolics import (
    SymbolicWatch,
    choose,
    register_chosen,
)
from modelexport_exporter.torch_internals.operators import OpOverload, schema_of
from modelexport_exporter.torch_internals.symbolics import PYTHON_OP, Key
from modelexport_exporter.user_code.named_callable import put_on_path


@dataclass
class Plugins:
    """What the plugins of a spec, and the model's own code, bring to an export."""

    spec: ModelExportSpec
    code_dir: Path | None
    contents: Contents
    watch: SymbolicWatch
    libraries: tuple[Path, ...] = ()
    """Of onnxruntime custom operators."""
    symbolic_origins: dict[str, str] = field(default_factory=dict)
    """Which plugin registered the symbolic function of an operator."""
    _used_functions: list[Any] = field(default_factory=list)
    _unused: str = ""
    """What only the other route would use."""

    @property
    def custom_opsets(self) -> dict[str, int]:
        """Return the versions of custom domains; the manifest overrides plugins."""
        return {**self.contents.custom_opsets, **self.spec.export.custom_opsets}

    @property
    def _falls_through(self) -> bool:
        return self.spec.export.unsupported_ops is UnsupportedOps.FALL_THROUGH

    def check_route(self, task: ExportTask, run: Callable[[], object]) -> None:
        """Fall back to the TorchScript route if there are translations that only it uses.

        `run` runs the model once.
        """
        if ROUTES[task.rung] is not Exporter.DYNAMO:
            return
        self._unused = wanted = self._wants_torchscript(run)
        pinned = self.spec.export.exporter is Exporter.DYNAMO
        if wanted and not task.force and not pinned:
            raise RouteFallback(
                Reason.UNSUPPORTED_OPERATOR,
                f"the torch.export route would not use {wanted}",
                "Define custom_translation_table for the torch.export route.",
                stage=Stage.LOAD,
            )

    def _wants_torchscript(self, run: Callable[[], object]) -> str:
        """Return what only the TorchScript route uses; empty where there is nothing."""
        opset = self.spec.export.opset
        names = {name for name, _ in self.watch.changes()}
        names -= self._translated_names()
        if names and choose(self.watch.changes(), opset).functions:
            return f"the symbolic functions of {', '.join(sorted(names)[:5])}"
        static = find_static_symbolics(self.code_dir, run)
        return f"the symbolic methods of {', '.join(static[:5])}" if static else ""

    def _translated_names(self) -> set[str]:
        """Return the operators with a translation for the torch.export route."""
        return {
            schema_of(key).name for key in self.contents.translations if isinstance(key, OpOverload)
        }

    @contextmanager
    def register_symbolics(self) -> Iterator[None]:
        """Let the user's symbolic functions translate while the block runs (TorchScript)."""
        opset = self.spec.export.opset
        with ExitStack() as stack:
            used = stack.enter_context(register_chosen(choose(self.watch.changes(), opset), opset))
            if self._falls_through:
                stack.enter_context(let_operators_fall_through())
            yield
        self._used_functions.extend(used.functions)

    def torchscript_options(self) -> dict[str, Any]:
        """Return arguments of torch.onnx.export for the TorchScript route."""
        inlining = not any(name == PYTHON_OP for name, _ in self.watch.changes())
        return {"autograd_inlining": inlining}

    @property
    def left_alone(self) -> frozenset[str]:
        """Return the operators that are not rewritten: the user's, or those of the manifest."""
        symbolic = {name for name, _ in self.watch.changes()}
        translated = {
            schema_of(key).name
            for key in (*self.contents.translations, *self.contents.decompositions)
            if isinstance(key, OpOverload)
        }
        return frozenset({*self.spec.export.rewrites.disabled, *symbolic, *translated})

    @property
    def translated(self) -> tuple[object, ...]:
        """Return the operators that plugins translate for the torch.export route."""
        return tuple(self.contents.translations)

    def translator_of(self, operator: str, route: Exporter) -> str:
        """Return the plugin that translates `aten.gelu.default` on a route; empty if none does."""
        if route is Exporter.DYNAMO:
            tables = ("custom_translation_table", "decompositions")
            owners = (self.contents.origins.get((table, operator)) for table in tables)
            return next(filter(None, owners), "")
        namespace, _, rest = operator.partition(".")
        return self.symbolic_origins.get(f"{namespace}::{rest.partition('.')[0]}", "")

    def translations(self, program: ExportedProgram) -> dict[Any, Callable[..., Any]]:
        """Return the custom_translation_table of all plugins (torch.export)."""
        known = self.contents.translations
        if not self._falls_through:
            return dict(known)
        # It needs onnxscript, which takes a second, and the reference does not translate.
        from modelexport_exporter.plugins.fall_through.dynamo import fall_through_table

        return {**fall_through_table(program, self.spec.export.opset, list(known)), **known}

    def decompose(self, program: ExportedProgram) -> ExportedProgram:
        """Return the program with the plugins' decompositions applied (torch.export)."""
        if not self.contents.decompositions:
            return program
        decomposed: ExportedProgram = program.run_decompositions(self.contents.decompositions)
        return decomposed

    def complete(self, model: ir.Model) -> None:
        """Put the functions that the model uses into it, and the versions of custom domains."""
        restore_domains(model)
        add_functions(model, [*self.contents.functions, *self._used_functions])
        set_opsets(model, self.custom_opsets)

    def session_setup(self) -> SessionSetup:
        """Return what the plugins and libraries add to onnxruntime."""
        host = host_nodes_in_torch if self._falls_through else None
        return SessionSetup(self._configure_session, host)

    def _configure_session(self, options: Any) -> None:  # noqa: ANN401 - onnxruntime is untyped
        register_libraries(options, self.libraries)
        for plugin, configure in self.contents.configure_session:
            try:
                configure(options)
            except BaseException as error:
                frame = user_frame(error, self.code_dir)
                raise ExportFailure(
                    Reason.CODE_INVALID,
                    f"{plugin}.configure_session raised {type(error).__name__}: "
                    f"{text_of(error)[:500]}" + (f" ({frame})" if frame else ""),
                    "It is called with an onnxruntime.SessionOptions.",
                ) from error

    def findings(self, task: ExportTask, facts: ArtifactFacts) -> tuple[ContractFinding, ...]:
        """Return what this route or opset does not use, and what a consumer must bring."""
        opset = self.spec.export.opset
        found = [
            ContractFinding(
                subject=f"symbolic function of {name}",
                requested=f"opset {lowest} or newer",
                obtained=f"not used: the file has opset {opset}",
            )
            for name, lowest in choose(self.watch.changes(), opset).too_new.items()
        ]
        if self._unused:
            found.append(
                ContractFinding(self._unused, "used to translate", "not used by the Dynamo route")
            )
        if ROUTES[task.rung] is Exporter.TORCH_SCRIPT:
            symbolic = {name for name, _ in self.watch.changes()}
            found.extend(
                ContractFinding(
                    f"custom_translation_table of {name}",
                    "used to translate",
                    "not used by the TorchScript route",
                )
                for name in sorted(self._translated_names() - symbolic)
            )
        return tuple(found) + foreign_operators(facts.op_counts, facts.functions)


def load_plugins(task: ExportTask, progress: ReportProgress) -> Plugins:
    """Import the plugins, in the order of the manifest. Raises ExportFailure."""
    put_on_path(task.code_dir)
    plugins = Plugins(task.spec, task.code_dir, Contents(), SymbolicWatch(), task.runtime_libraries)
    origins: dict[Key, tuple[str, object]] = {}
    for name in task.spec.export.plugins:
        # If the worker dies now, the plugin is the reason.
        progress(Stage.LOAD, 0.0, FactoryProgress(f"importing the plugin {name}"))
        with older_torch(), record_exports() as recorded:
            module = import_plugin(name, task.code_dir)
        _note_symbolics(name, plugins.watch, origins)
        plugins.symbolic_origins |= {op: owner for (op, _), (owner, _) in origins.items()}
        defined = {
            "custom_opsets": recorded.custom_opsets or None,
            "custom_translation_table": recorded.custom_translation_table or None,
        } | vars(module)
        plugins.contents.add(name, defined)
    if task.spec.export.plugins:
        progress(Stage.LOAD, 0.0, "plugins are imported")
    return plugins


def _note_symbolics(
    plugin: str, watch: SymbolicWatch, origins: dict[Key, tuple[str, object]]
) -> None:
    """Fail where a plugin replaced the symbolic function of an earlier one."""
    for key, function in watch.changes().items():
        owner, known = origins.get(key, (plugin, function))
        if known is not function:
            raise clash_of_symbolics(owner, plugin, *key)
        origins[key] = (owner, function)
