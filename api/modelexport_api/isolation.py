"""What user code may do in its process: what is requested, and what was in force."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from modelexport_api.base import ApiModel


class Isolation(StrEnum):
    """Whether an export runs where the kernel cannot isolate the model's code completely."""

    PREFERRED = "Preferred"
    REQUIRED = "Required"


class Network(StrEnum):
    """Whether the model's code may use the network."""

    CLOSED = "Closed"
    OPEN = "Open"


class IsolationInForce(ApiModel):
    """How the processes that ran the model's code were isolated."""

    landlock_abi: int | None = Field(
        default=None,
        description="Version of Landlock that limited files, signals and sockets. Not set if the "
        "kernel has none.",
    )
    seccomp: bool = Field(
        default=False, description="Whether a seccomp filter refused system calls."
    )
    network: Network = Field(
        description="Closed: the model's code had no network. Open: it had that of the pod or "
        "workstation."
    )
    missing: list[str] = Field(
        default_factory=list,
        description="What was not in force, each with its reason.",
    )
