"""Load: from a checkpoint on disk to a module in eval mode that holds its weights.

Guarantees the module that eager PyTorch would have after `load_state_dict(strict=True)`, with the
weights mapped from the file instead of copied. The verifier calls this in a process of its own
for the reference that the artifact is compared with.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from modelexport_api.reasons import Reason
from modelexport_api.spec import Format, ModelExportSpec
from modelexport_api.status import Stage
from modelexport_exporter.checkpoint.bind_weights import (
    CannotAssignError,
    bind_weights,
    tensors_on_meta,
)
from modelexport_exporter.checkpoint.exported_program_archive import load_exported_program
from modelexport_exporter.checkpoint.formats import Detected, detect
from modelexport_exporter.checkpoint.nesting import find_state_dict
from modelexport_exporter.checkpoint.safetensors_files import read_safetensors
from modelexport_exporter.checkpoint.torch_save import read_pickled
from modelexport_exporter.failure import ExportFailure
from modelexport_exporter.isolation.out_of_memory import reraise_out_of_memory
from modelexport_exporter.user_code.factory import Factory, find_factory
from modelexport_exporter.user_code.meta_build import build_for_real, build_on_meta
from modelexport_exporter.values import CALLING_FACTORY, ContractFinding, ExportTask, ReportProgress


@dataclass(frozen=True)
class LoadedModel:
    """A model with its weights, ready to be called and to be captured."""

    format: Format
    module: torch.nn.Module
    """What eager runs. For TorchScript a ScriptModule, for an ExportedProgram its module."""
    program: torch.export.ExportedProgram | None = None
    """Only where the checkpoint is one."""
    findings: tuple[ContractFinding, ...] = ()
    """What was adapted: weights that were cast."""


def silent(_stage: Stage, _fraction: float, _message: str) -> None:
    """Report to nobody."""


def load_module(task: ExportTask, progress: ReportProgress = silent) -> LoadedModel:
    """Return the model that the task's checkpoint holds."""
    spec = task.spec
    progress(Stage.LOAD, 0.0, f"reading {task.checkpoint.name}")
    detected = detect(task.checkpoint, spec.source.format)
    if detected.format is Format.TORCH_SCRIPT:
        return LoadedModel(Format.TORCH_SCRIPT, _load_torch_script(task.checkpoint))
    if detected.format is Format.EXPORTED_PROGRAM:
        program = load_exported_program(task.checkpoint, allow_pickle=spec.source.allow_pickle)
        return LoadedModel(Format.EXPORTED_PROGRAM, program.module(), program)
    factory = _factory(task, detected, progress)
    state = _read_state(task.checkpoint, detected, spec)
    assert spec.model is not None
    progress(Stage.LOAD, 0.5, f"{CALLING_FACTORY} {spec.model.factory}")
    module, findings = build_with_weights(factory, state)
    progress(Stage.LOAD, 1.0, "weights are bound")
    return LoadedModel(detected.format, module, findings=findings)


def build_with_weights(
    factory: Factory, state: Mapping[str, Any]
) -> tuple[torch.nn.Module, tuple[ContractFinding, ...]]:
    """Build without memory for the weights where that works, otherwise as the factory does."""
    module = build_on_meta(factory)
    if module is not None:
        try:
            findings = bind_weights(module, state, assign=True)
        except CannotAssignError:
            findings = ()
        if not tensors_on_meta(module):
            return _for_inference(module), findings
    module = build_for_real(factory)
    return _for_inference(module), bind_weights(module, state, assign=False)


def _for_inference(module: torch.nn.Module) -> torch.nn.Module:
    for parameter in module.parameters():  # a ScriptModule has no requires_grad_ of its own
        parameter.requires_grad_(False)
    return module.eval()


def _factory(task: ExportTask, detected: Detected, progress: ReportProgress) -> Factory:
    if task.spec.model is None or task.spec.model.factory is None:
        raise ExportFailure(
            Reason.FACTORY_NOT_FOUND,
            f"{task.checkpoint.name} is a {detected}: it holds weights but no graph, and the "
            "spec names no model.factory",
            "Set model.factory to package.module:callable that returns the torch.nn.Module.",
        )
    progress(Stage.LOAD, 0.2, f"{CALLING_FACTORY} {task.spec.model.factory}: importing it")
    factory = find_factory(task.spec.model, task.code_dir)
    progress(Stage.LOAD, 0.3, "reading the weights")
    return factory


def _read_state(checkpoint: Path, detected: Detected, spec: ModelExportSpec) -> Mapping[str, Any]:
    key = spec.source.state_dict_key
    if detected.format is Format.SAFETENSORS:
        if key is not None:
            raise ExportFailure(
                Reason.STATE_DICT_MISMATCH,
                f"source.stateDictKey is {key}, but safetensors hold one flat state_dict",
                "Remove source.stateDictKey.",
            )
        return read_safetensors(checkpoint)
    stored = read_pickled(checkpoint, detected.layout, allow_pickle=spec.source.allow_pickle)
    return find_state_dict(stored, key)


def _load_torch_script(path: Path) -> torch.nn.Module:
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
    return _for_inference(module)
