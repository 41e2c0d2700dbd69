"""Load: from a checkpoint on disk to a module that holds its weights, in eval or train mode.

Guarantees the module that eager PyTorch would have after `load_state_dict(strict=True)`, with the
weights mapped from the file instead of copied. The verify worker calls this in its own process
for the reference that the artifact is compared with.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch.nn.utils.parametrize import is_parametrized

from modelexport_api.reasons import Reason
from modelexport_api.spec import Format
from modelexport_api.status import Stage
from modelexport_exporter.checkpoint.archive_records import check_storages
from modelexport_exporter.checkpoint.bind_weights import (
    CannotAssignError,
    bind_weights,
    tensors_on_meta,
)
from modelexport_exporter.checkpoint.exported_program_archive import load_exported_program
from modelexport_exporter.checkpoint.formats import detect
from modelexport_exporter.checkpoint.fused_paths import fused_paths
from modelexport_exporter.checkpoint.hugging_face import load_hugging_face
from modelexport_exporter.checkpoint.key_prefixes import fit_names
from modelexport_exporter.checkpoint.layout import Detected, Layout
from modelexport_exporter.checkpoint.read_state import read_module, read_state
from modelexport_exporter.checkpoint.weight_patterns import without_unused
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.out_of_memory import reraise_out_of_memory
from modelexport_exporter.core.types import (
    ContractFinding,
    ExportTask,
    FactoryProgress,
    ReportProgress,
)
from modelexport_exporter.core.user_frame import count_as_users
from modelexport_exporter.torch_internals.flexible_attention import (
    compute_flexible_attention_eagerly,
)
from modelexport_exporter.torch_internals.state_dicts import versions_of
from modelexport_exporter.user_code.factory import Factory, find_factory
from modelexport_exporter.user_code.global_state import Guard
from modelexport_exporter.user_code.meta_build import build_for_real, build_on_meta, seed
from modelexport_exporter.user_code.missing_names import no_factory
from modelexport_exporter.user_code.named_callable import put_on_path
from modelexport_exporter.user_code.state_arguments import with_state_arguments
from modelexport_exporter.user_code.wrappers import unwrapped


@dataclass(frozen=True)
class LoadedModel:
    """A model with its weights, ready to be called and to be captured."""

    format: Format
    module: torch.nn.Module
    """What eager runs. For TorchScript a ScriptModule, for an ExportedProgram its module."""
    program: torch.export.ExportedProgram | None = None
    """Only where the checkpoint is one."""
    findings: tuple[ContractFinding, ...] = ()
    """What was adapted: weights that were cast or renamed, globals that were put back.

    Also where eager PyTorch has a path with other results."""


def silent(_stage: Stage, _fraction: float, _message: str) -> None:
    """Ignore progress."""


def load_module(task: ExportTask, progress: ReportProgress = silent) -> LoadedModel:
    """Return the model that the task's checkpoint holds; leave the process as it was."""
    guard = Guard()
    with guard.watching():
        loaded = _load(task, progress)
    compute_flexible_attention_eagerly()
    state = task.spec.model.state if task.spec.model is not None else []
    loaded = replace(loaded, module=with_state_arguments(loaded.module, state))
    findings = (*loaded.findings, *guard.findings, *fused_paths(loaded.module))
    return replace(loaded, findings=findings)


def _load(task: ExportTask, progress: ReportProgress) -> LoadedModel:
    spec = task.spec
    progress(Stage.LOAD, 0.0, f"reading {task.checkpoint.name}")
    detected = detect(task.checkpoint, spec.source.format)
    training = spec.model is not None and spec.model.training
    if detected.format is Format.TORCH_SCRIPT:
        script = _load_torch_script(task.checkpoint)
        return LoadedModel(detected.format, _ready(script, training=training))
    if detected.format is Format.EXPORTED_PROGRAM:
        program = load_exported_program(task.checkpoint, allow_pickle=spec.source.allow_pickle)
        return LoadedModel(Format.EXPORTED_PROGRAM, program.module(), program)
    put_on_path(task.code_dir)
    loaded = _without_factory(task, detected, progress) or _with_factory(task, detected, progress)
    progress(Stage.LOAD, 1.0, "weights are bound")
    count_as_users(type(loaded.module).__module__)
    return replace(loaded, module=_ready(loaded.module, training=training))


def _without_factory(
    task: ExportTask, detected: Detected, progress: ReportProgress
) -> LoadedModel | None:
    """Return the model of a checkpoint that says how it is built; None where a factory must."""
    spec, model = task.spec, task.spec.model
    if model is not None and model.factory is not None:
        return None
    if detected.format is Format.HUGGING_FACE:
        state = read_state(task.checkpoint, detected, spec)
        progress(Stage.LOAD, 0.5, "building the model with transformers")
        seed()
        kwargs = model.kwargs if model is not None else {}
        module, findings = load_hugging_face(task.checkpoint, state, kwargs, spec.source)
        return LoadedModel(detected.format, module, findings=findings)
    if task.checkpoint.is_file() and detected.layout in {Layout.ZIP, Layout.LEGACY_PICKLE}:
        message = FactoryProgress(f"calling factory code that {task.checkpoint.name} names")
        progress(Stage.LOAD, 0.5, message)
        found = read_module(task.checkpoint, detected, spec)
        if found is not None:
            return LoadedModel(Format.MODULE, unwrapped(found))
    return None


def _with_factory(task: ExportTask, detected: Detected, progress: ReportProgress) -> LoadedModel:
    factory = _factory(task, detected, progress)
    state = read_state(task.checkpoint, detected, task.spec)
    assert task.spec.model is not None
    progress(Stage.LOAD, 0.5, FactoryProgress(f"calling factory {task.spec.model.factory}"))
    source = task.spec.source
    module, findings = build_with_weights(
        factory,
        state,
        only_part=detected.format is Format.LIGHTNING,
        unused=source.unused_weights,
        from_factory=source.factory_weights,
    )
    return LoadedModel(detected.format, module, findings=findings)


def build_with_weights(
    factory: Factory,
    state: Mapping[str, Any],
    *,
    only_part: bool = False,
    unused: Sequence[str] = (),
    from_factory: Sequence[str] = (),
) -> tuple[torch.nn.Module, tuple[ContractFinding, ...]]:
    """Build without memory for the weights where that works, otherwise as the factory does.

    `only_part`: whether the state is that of a larger module. `unused`, `from_factory`: patterns of
    names that only the state, or only the module, may have.
    """
    versions = versions_of(state)

    def bind(module: torch.nn.Module, *, assign: bool) -> tuple[ContractFinding, ...]:
        own = frozenset(module.state_dict(keep_vars=True))
        used, left_out = without_unused(own, state, unused)
        fitting, renamed = fit_names(own, used, only_part=only_part)
        bound = bind_weights(
            module, fitting, assign=assign, versions=versions, from_factory=from_factory
        )
        return *left_out, *renamed, *bound

    module = build_on_meta(factory)
    if module is not None:
        findings: tuple[ContractFinding, ...] | None = None
        try:
            findings = bind(module, assign=True)
        except CannotAssignError:
            findings = ()
        except ExportFailure:
            # Parametrizations register buffers that depend on the values of weights.
            if not any(is_parametrized(part) for part in module.modules()):
                raise
        if findings is not None and not tensors_on_meta(module):
            return module, findings
    module = build_for_real(factory)
    return module, bind(module, assign=False)


def _ready(module: torch.nn.Module, *, training: bool) -> torch.nn.Module:
    """Put the module into the requested mode."""
    for parameter in module.parameters():  # a ScriptModule has no requires_grad_()
        parameter.requires_grad_(False)
    # As users do: some models fuse layers, or change how they are called, in eval().
    return module.train() if training else module.eval()


def _factory(task: ExportTask, detected: Detected, progress: ReportProgress) -> Factory:
    if task.spec.model is None or task.spec.model.factory is None:
        raise no_factory(task.checkpoint.name, str(detected))
    progress(Stage.LOAD, 0.2, FactoryProgress(f"importing factory {task.spec.model.factory}"))
    factory = find_factory(task.spec.model, task.code_dir)
    progress(Stage.LOAD, 0.3, "reading the weights")
    return factory


def _load_torch_script(path: Path) -> torch.nn.Module:
    check_storages(path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            module: torch.nn.Module = torch.jit.load(str(path), map_location="cpu")  # type: ignore[no-untyped-call]
    except Exception as error:
        reraise_out_of_memory(error)
        text = " ".join(str(error).split())[:300]
        raise ExportFailure(
            Reason.CHECKPOINT_CORRUPT,
            f"{path.name} cannot be loaded as TorchScript by torch {torch.__version__}: {text}",
            "Upload the archive again; if its operators come from an extension, or it was saved "
            "by a newer torch, save it again with this version.",
        ) from error
    if not hasattr(module, "forward"):
        raise ExportFailure(
            Reason.FORMAT_UNKNOWN,
            f"{path.name} holds a TorchScript module without forward",
            "Save the module that is called with torch.jit.save.",
        )
    return module
