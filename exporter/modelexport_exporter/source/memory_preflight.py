"""Refuses an export that cannot fit into the memory that its processes may use.

Guarantees that this is reported before the download, and that no export that might fit is refused:
only the part that no export avoids is compared with the limit (`memory_prediction.py`). Where the
whole prediction exceeds the limit, the log has a warning.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path

from modelexport_api.reasons import Reason
from modelexport_exporter.core import cgroup
from modelexport_exporter.core.digests import SourceIdentity
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.source.checkpoint_header import Header, read_header
from modelexport_exporter.source.memory_prediction import (
    Loading,
    Plan,
    Prediction,
    is_impossible,
    predict,
)
from modelexport_exporter.storage.store import Store

_MOST_HEADERS = 32
"""Of a directory: its shards were written by one program."""
_KERNELS_BYTES = 1 << 20
"""Where libtorch_cuda.so is larger, it is no replacement (requirements/without_cuda.py)."""
_GIB = 1 << 30


def check_memory(
    store: Store,
    identity: SourceIdentity,
    warn: Callable[[str], None] = lambda _message: None,
    limit: int | None = None,
) -> None:
    """Raise ExportFailure if no export of this checkpoint fits; warn if it may not fit.

    `limit`: bytes of memory, by default what this process may use.
    """
    limit = memory_limit() if limit is None else limit
    cuda = has_cuda()
    worst = Plan(identity.size_bytes, Loading.COPIED, cuda)
    if limit is None or fits_anyhow(worst, limit):
        return
    header = _header_of(store, identity)
    plan = Plan(header.weights_bytes, header.loading, cuda)
    prediction = predict(plan)
    if is_impossible(prediction, limit):
        raise insufficient(plan, prediction, limit)
    if prediction.peak_bytes > limit:
        warn(f"{_needs(prediction, limit)}; {_advice(prediction)}")


def fits_anyhow(worst: Plan, limit: int) -> bool:
    """Return whether an export fits even if its header says the worst, so it need not be read."""
    return predict(worst).peak_bytes <= limit


def insufficient(plan: Plan, prediction: Prediction, limit: int) -> ExportFailure:
    """Return the failure of an export that cannot fit."""
    copied = plan.loading is Loading.COPIED
    why = f": torch reads {_gib(plan.weights_bytes)} of weights into memory" if copied else ""
    mapped = " Or save the checkpoint as safetensors, which is mapped instead." if copied else ""
    return ExportFailure(
        Reason.INSUFFICIENT_MEMORY,
        f"{_needs(prediction, limit)}{why}",
        f"{_advice(prediction)}.{mapped}",
    )


def memory_limit(root: Path = Path("/")) -> int | None:
    """Return the bytes that the processes may use, swap included; None where that is unknown."""
    fields = {}
    try:
        for line in (root / "proc/meminfo").read_text().splitlines():
            name, _, value = line.partition(":")
            fields[name] = int(value.split()[0]) * 1024
    except (OSError, ValueError, IndexError):
        return None
    machine = fields.get("MemTotal")
    own = cgroup.read_memory(root).limit_bytes
    limits = [size for size in (machine, own) if size is not None]
    # Kubernetes may let pods swap: what a cgroup may swap is not looked up, all of it counts.
    return min(limits) + fields.get("SwapTotal", 0) if limits else None


def has_cuda() -> bool:
    """Return whether torch is a build with CUDA, without importing it."""
    found = importlib.util.find_spec("torch")
    if found is None or found.origin is None:
        return False
    kernels = Path(found.origin).parent / "lib" / "libtorch_cuda.so"
    return kernels.is_file() and kernels.stat().st_size > _KERNELS_BYTES


def _header_of(store: Store, identity: SourceIdentity) -> Header:
    """Return what the headers of all files state."""
    headers = [read_header(store, found) for found in identity.files[:_MOST_HEADERS]]
    if len(identity.files) == 1:
        return headers[0]
    # Of shards that are copied, nobody says that all are in memory at the same time.
    mapped = all(header.loading is Loading.MAPPED for header in headers)
    return Header(identity.size_bytes, Loading.MAPPED if mapped else Loading.UNKNOWN)


def _needs(prediction: Prediction, limit: int) -> str:
    return f"needs about {_gib(prediction.peak_bytes)}, limit {_gib(limit)}"


def _advice(prediction: Prediction) -> str:
    # A quarter more, because that is the error of the prediction.
    enough = -(-prediction.peak_bytes * 5 // 4 // _GIB)
    return f"Set resources.limits.memory in spec.podTemplate to {enough}Gi or more"


def _gib(size: int) -> str:
    return f"{size / _GIB:.1f} GiB".replace(".0 GiB", " GiB")
