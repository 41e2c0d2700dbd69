"""A Hugging Face directory: config.json says which class, transformers builds it and renames keys.

Guarantees that no hub is contacted and no code of the directory runs, that the weights stay
mapped from their files, and that weights which are missing are a failure: transformers itself
would warn and go on with random ones.
"""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from modelexport_api.reasons import Reason
from modelexport_api.spec import Source
from modelexport_exporter.checkpoint.files import CONFIG
from modelexport_exporter.checkpoint.state_dict_mismatch import Mismatch, describe_shape
from modelexport_exporter.checkpoint.weight_patterns import (
    factory_finding,
    matching,
    unused_finding,
)
from modelexport_exporter.core import place
from modelexport_exporter.core.bounded_json import BoundedJsonError, read_json
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.out_of_memory import reraise_out_of_memory
from modelexport_exporter.core.types import ContractFinding
from modelexport_exporter.core.user_frame import text_of

DEFAULTS: dict[str, object] = {"use_cache": False}
"""What a model is built with where model.kwargs says nothing: a cache would be an output."""
_LOADING = ("dtype", "attn_implementation")
"""Keyword arguments of loading; all others are values of the config, or of the class."""
_FACTORY_HINT = (
    "Name a function that builds the module in model.factory, and its code in model.code."
)


def load_hugging_face(
    directory: Path, state: Mapping[str, Any], kwargs: Mapping[str, Any], source: Source
) -> tuple[torch.nn.Module, tuple[ContractFinding, ...]]:
    """Return the model that the directory's config describes, with the weights in `state`.

    `source`: names the weights that only one of both may have.
    """
    content = _read_config(directory / CONFIG)
    transformers = _transformers()
    config_class = _config_class(transformers, content)
    loading = {name: kwargs[name] for name in _LOADING if name in kwargs}
    values = {**DEFAULTS, **{name: kwargs[name] for name in kwargs if name not in _LOADING}}
    try:
        config, unused = config_class.from_dict(content, return_unused_kwargs=True, **values)
        model_class = _model_class(transformers, config, content)
        arguments = _arguments(model_class, {k: v for k, v in unused.items() if k in kwargs})
        model, info = model_class.from_pretrained(
            None,
            config=config,
            state_dict=dict(state),
            local_files_only=True,
            output_loading_info=True,
            ignore_mismatched_sizes=True,  # reported below
            **loading,
            **arguments,
        )
    except ExportFailure:
        raise
    except Exception as error:
        reraise_out_of_memory(error)
        raise ExportFailure(
            Reason.FACTORY_FAILED,
            f"transformers {transformers.__version__} cannot build the model that {CONFIG} "
            f"describes: {type(error).__name__}: {text_of(error)[:500]}",
            f"Correct {CONFIG} or model.kwargs (given: {', '.join(kwargs) or 'none'}).",
        ) from error
    findings = _check_loaded(model, info, state, source)
    _return_dicts(model, transformers.utils.ModelOutput)
    return model, findings


def _transformers() -> Any:  # noqa: ANN401 - the library
    os.environ["HF_HUB_OFFLINE"] = "1"  # read when it is imported
    try:
        import transformers
    except ImportError as error:
        raise ExportFailure(
            Reason.FACTORY_NOT_FOUND,
            f"a Hugging Face model needs transformers, which is not installed: {error}",
            place.install("transformers") + ".",
        ) from error
    library: Any = transformers
    library.logging.set_verbosity_error()
    library.logging.disable_progress_bar()
    return library


def _read_config(path: Path) -> dict[str, Any]:
    try:
        content = read_json(path.read_bytes())
    except BoundedJsonError as error:
        raise ExportFailure(
            Reason.CHECKPOINT_CORRUPT,
            f"{CONFIG} is no JSON: {error}",
            "Save the model again with save_pretrained, or upload the file again.",
        ) from error
    if not isinstance(content, dict):
        raise ExportFailure(
            Reason.CHECKPOINT_CORRUPT,
            f"{CONFIG} holds a {type(content).__name__}, not an object",
            "Save the model again with save_pretrained.",
        )
    return content


def _config_class(transformers: Any, content: dict[str, Any]) -> Any:  # noqa: ANN401
    model_type = content.get("model_type")
    if isinstance(model_type, str) and model_type in transformers.CONFIG_MAPPING:
        return transformers.CONFIG_MAPPING[model_type]
    _refuse_own_code(content)
    raise ExportFailure(
        Reason.FORMAT_UNKNOWN,
        f"{CONFIG} has model_type {model_type!r}, which transformers {transformers.__version__} "
        "does not know",
        "Correct model_type, install a transformers that knows it, or set model.factory.",
    )


def _model_class(transformers: Any, config: Any, content: dict[str, Any]) -> Any:  # noqa: ANN401
    """Return the class that the model was trained as; without one, the bare model."""
    architectures = content.get("architectures") or []
    name = architectures[0] if isinstance(architectures, list) and architectures else None
    if name is None:
        return transformers.MODEL_MAPPING[type(config)]
    found = getattr(transformers, name, None) if isinstance(name, str) else None
    if inspect.isclass(found) and issubclass(found, transformers.PreTrainedModel):
        return found
    _refuse_own_code(content)
    raise ExportFailure(
        Reason.FACTORY_NOT_FOUND,
        f"{CONFIG} names the architecture {name}, which transformers {transformers.__version__} "
        "does not have",
        _FACTORY_HINT,
    )


def _refuse_own_code(content: dict[str, Any]) -> None:
    auto_map = content.get("auto_map")
    if isinstance(auto_map, dict) and auto_map:
        named = ", ".join(f"{key}: {value}" for key, value in list(auto_map.items())[:3])
        raise ExportFailure(
            Reason.UNSAFE_CHECKPOINT,
            f"{CONFIG} needs code that is next to the weights (auto_map: {named}), which is "
            "never run from there",
            _FACTORY_HINT,
        )


def _arguments(model_class: Any, left: dict[str, Any]) -> dict[str, Any]:  # noqa: ANN401
    """Return keys that only the class knows; refuse those that the config lacks, too."""
    known = inspect.signature(model_class.__init__).parameters
    unknown = [name for name in left if name not in known or name in {"self", "config"}]
    if unknown:
        raise ExportFailure(
            Reason.FACTORY_FAILED,
            f"model.kwargs has {', '.join(unknown)}, which neither the config nor "
            f"{model_class.__name__} knows",
            "Set values of config.json, dtype or attn_implementation; nothing is loaded from a "
            "hub, on another device or with code of the directory.",
        )
    return left


def _check_loaded(
    model: torch.nn.Module, info: Mapping[str, Any], state: Mapping[str, Any], source: Source
) -> tuple[ContractFinding, ...]:
    missing, unexpected = sorted(info["missing_keys"]), sorted(info["unexpected_keys"])
    different = tuple(
        f"{name}: {tuple(stored)} in the checkpoint, {tuple(wanted)} in the module"
        for name, stored, wanted in sorted(info["mismatched_keys"])
    )
    unused = matching(unexpected, source.unused_weights)
    kept = matching(missing, source.factory_weights)
    missing = [name for name in missing if name not in kept]
    unexpected = [name for name in unexpected if name not in unused]
    wrong = [name for name in unexpected if not is_a_head(model, name)]
    detail = "; ".join(str(item) for item in info["error_msgs"])
    if missing or different or wrong or detail:
        raise Mismatch(tuple(missing), tuple(wrong), different, detail=detail).failure()
    declared = (
        *([unused_finding(unused)] if unused else []),
        *([factory_finding(kept)] if kept else []),
    )
    if not unexpected:
        return declared
    listed = ", ".join(f"{name} {describe_shape(state.get(name))}" for name in unexpected[:4])
    return (
        *declared,
        ContractFinding(
            subject="weights",
            requested=f"{len(unexpected)} more tensors in the checkpoint ({listed})",
            obtained=f"left out: {type(model).__name__} has no such part",
        ),
    )


def is_a_head(model: torch.nn.Module, name: str) -> bool:
    """Return whether the key belongs to a whole part that the class lacks (pooler, other head).

    A layer more than the list has, or a bias of a layer that has none, is another architecture.
    """
    module = model
    *path, _leaf = name.split(".")
    for part in path:
        child = dict(module.named_children()).get(part)
        if child is None:
            return not part.isdigit()
        module = child
    return False


def _return_dicts(model: torch.nn.Module, output_type: type) -> None:
    """Make forward return dicts, whose keys name the outputs: strict capture takes no ModelOutput.

    The model gets a subclass of its class, since a method of the object would stay bound to it
    when it is copied.
    """
    cls = type(model)

    def plain(value: Any) -> Any:  # noqa: ANN401
        if isinstance(value, output_type):
            return {key: plain(item) for key, item in value.items()}  # type: ignore[attr-defined]
        if type(value) in {tuple, list}:
            return type(value)(plain(item) for item in value)
        return value

    @functools.wraps(cls.forward)
    def forward(self: torch.nn.Module, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        return plain(cls.forward(self, *args, **kwargs))

    same = {"forward": forward, "__module__": cls.__module__, "__qualname__": cls.__qualname__}
    model.__class__ = type(cls.__name__, (cls,), same)
