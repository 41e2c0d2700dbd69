"""The kinds that triggers may watch: one list for settings, permissions and watches."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints

from modelexport_api.base import ApiModel
from modelexport_api.trigger import TriggerSource
from modelexport_api.trigger_rules import WELL_KNOWN, version_of

_PLURALS = {
    "Job": "jobs",
    "TrainJob": "trainjobs",
    "PyTorchJob": "pytorchjobs",
    "RayJob": "rayjobs",
    "JobSet": "jobsets",
}
_Text = Annotated[str, StringConstraints(min_length=1, max_length=253)]


def _well_known(kind: str) -> str:
    if kind not in WELL_KNOWN:
        names = ", ".join(WELL_KNOWN)
        raise ValueError(f"{kind} is not one of {names}: add it to custom")
    return kind


_KnownKind = Annotated[str, AfterValidator(_well_known)]


class WatchedKind(ApiModel):
    """A kind and its resource name."""

    api_version: _Text
    kind: _Text
    resource: _Text

    @property
    def group(self) -> str:
        """Return the API group."""
        return self.api_version.rpartition("/")[0]

    @property
    def root(self) -> str:
        """Return the URL path of group and version."""
        return f"/apis/{self.api_version}" if self.group else f"/api/{self.api_version}"


class TriggerSettings(ApiModel):
    """The kinds that triggers may name; the operator has permission to watch exactly these."""

    kinds: list[_KnownKind] = Field(default_factory=lambda: list(WELL_KNOWN))
    custom: list[WatchedKind] = Field(default_factory=list)

    def watched_kinds(self) -> list[WatchedKind]:
        """Return all kinds."""
        known = [
            WatchedKind(api_version=WELL_KNOWN[kind], kind=kind, resource=_PLURALS[kind])
            for kind in self.kinds
        ]
        return [*known, *self.custom]

    def find(self, source: TriggerSource) -> WatchedKind | None:
        """Return the kind that a trigger names, if it is enabled."""
        wanted = (version_of(source), source.kind)
        same = (k for k in self.watched_kinds() if (k.api_version, k.kind) == wanted)
        return next(same, None)
