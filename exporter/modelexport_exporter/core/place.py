"""Where an export runs, for hints: in a pod, as the spec describes it, or on a workstation."""

from __future__ import annotations

import os

from modelexport_api.pod import MANIFEST_ENV


def in_pod() -> bool:
    """Return whether the operator started this process, or a parent of it."""
    return MANIFEST_ENV in os.environ


def add_library(name: str) -> str:
    """Return the advice for a library that is not installed."""
    if in_pod():
        return f"Add {name} to model.code, or to the exporter's image (podTemplate)."
    return f"Install {name} in this Python environment, or add it to model.code."


def where_modules_are(*, code: bool) -> str:
    """Return where a module was looked for: after `there is no module x`."""
    elsewhere = "in the image" if in_pod() else "in this Python environment"
    return f"in model.code, nor {elsewhere}" if code else elsewhere


def install(what: str) -> str:
    """Return the advice to install a package or to replace one."""
    return f"Install {what} in {'the exporter image' if in_pod() else 'this Python environment'}"


def more_memory() -> str:
    """Return the advice for a process that ran out of memory."""
    if in_pod():
        return "Raise resources.limits.memory in spec.podTemplate."
    return "Use a machine with more memory, or end other processes on this one."
