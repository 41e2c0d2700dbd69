"""State dicts of torch.save, read without running code that a checkpoint brings along.

Guarantees `weights_only=True` unless the spec trusts the checkpoint (`allowPickle`), names the
global that was refused, and maps the file into memory where its layout allows (zip; files from
before torch 1.6 are read whole).
"""

from __future__ import annotations

import pickle  # for its exception only
import re
import warnings
from pathlib import Path
from typing import Any

import torch

from modelexport_api.reasons import Reason
from modelexport_exporter.checkpoint.formats import Layout
from modelexport_exporter.failure import ExportFailure
from modelexport_exporter.isolation.out_of_memory import reraise_out_of_memory

_REFUSED_GLOBAL = re.compile(r"GLOBAL ([\w.]+)")
_UNSAFE_HINT = (
    "Save the weights alone, torch.save(model.state_dict(), path) or safetensors, and export that "
    "file. Only if you trust the checkpoint as you trust your own code: source.allowPickle: true."
)
_CORRUPT_HINT = "Upload the checkpoint again, and compare its size with the original."


def read_pickled(path: Path, layout: Layout, *, allow_pickle: bool) -> Any:  # noqa: ANN401
    """Return whatever torch.save put into the file, its tensors on the CPU."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return torch.load(
                path,
                map_location="cpu",
                mmap=layout is Layout.ZIP,
                weights_only=not allow_pickle,
            )
    except pickle.UnpicklingError as error:
        raise _refusal(path, error) from error
    except ModuleNotFoundError as error:
        raise ExportFailure(
            Reason.UNSAFE_CHECKPOINT,
            f"{path.name} holds Python objects of the module {error.name}, which is not installed",
            "Save the weights alone, torch.save(model.state_dict(), path), or bring the module "
            "with model.code.",
        ) from error
    except Exception as error:  # damaged bytes raise whatever they meet
        reraise_out_of_memory(error)
        raise ExportFailure(
            Reason.CHECKPOINT_CORRUPT,
            f"{path.name} is cut off or damaged: {str(error).splitlines()[0][:300]}",
            _CORRUPT_HINT,
        ) from error


def _refusal(path: Path, error: pickle.UnpicklingError) -> ExportFailure:
    refused = _REFUSED_GLOBAL.search(str(error))
    if refused is None:
        return ExportFailure(
            Reason.CHECKPOINT_CORRUPT,
            f"{path.name} cannot be unpickled: it is damaged, or not a checkpoint of torch.save",
            _CORRUPT_HINT,
        )
    return ExportFailure(
        Reason.UNSAFE_CHECKPOINT,
        f"{path.name} is a pickle that would run code when it is loaded: it asks for "
        f"{refused.group(1)}, which was refused",
        _UNSAFE_HINT,
    )
