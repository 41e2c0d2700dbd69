"""The progress of a batch: the counts that its pods report, and their sum in the status."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from modelexport_api.base import ApiModel

Count = Annotated[int, Field(ge=0)]


class ShareCounts(ApiModel):
    """Progress of one pod's share of a batch: in its log while it runs, and in its result."""

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
    """Progress of a batch."""

    total: Count = Field(description="Number of checkpoints in the batch.")
    succeeded: Count = Field(
        default=0, description="Number of checkpoints that are verified and published."
    )
    failed: Count = Field(
        default=0, description="Number of checkpoints that failed and are not retried."
    )
    running: Count = Field(default=0, description="Number of checkpoints in progress.")
    reasons: dict[str, int] = Field(
        default_factory=dict, description="Number of failed checkpoints by reason."
    )
    results_uri: str | None = Field(
        default=None, description="URI of the results manifest: every checkpoint with its verdict."
    )
