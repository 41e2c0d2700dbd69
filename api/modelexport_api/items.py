"""How many checkpoints of a batch are how far: what its pods tell, and what its status sums up."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from modelexport_api.base import ApiModel

Count = Annotated[int, Field(ge=0)]


class ShareCounts(ApiModel):
    """How far one pod's share is. Told in its log while it runs and in its result."""

    share: Count
    """The number of the share: the pod's completion index."""
    batch_total: Count
    """Checkpoints of the whole batch, not only of this share."""
    share_total: Count
    succeeded: Count = 0
    failed: Count = 0
    running: Count = 0
    reasons: dict[str, int] = Field(default_factory=dict)
    """Failed checkpoints by reason."""
    example: Annotated[str, Field(max_length=512)] = ""
    """One failure as a sentence: the checkpoint's name, the reason and its message."""
    results_uri: str | None = None


class Items(ApiModel):
    """How far a batch is."""

    total: Count = Field(description="Checkpoints that the listing found.")
    succeeded: Count = Field(default=0, description="Verified and published.")
    failed: Count = Field(default=0, description="Failed for good.")
    running: Count = Field(default=0, description="In work.")
    reasons: dict[str, int] = Field(
        default_factory=dict, description="Failed checkpoints by reason."
    )
    results_uri: str | None = Field(
        default=None, description="The results manifest: every checkpoint with its verdict."
    )
