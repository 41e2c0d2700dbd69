"""What the terminal knows of a batch while it runs: pure."""

from __future__ import annotations

from dataclasses import dataclass, replace

from modelexport_api.items import ShareCounts
from modelexport_api.status import Progress


@dataclass(frozen=True)
class BatchBoard:
    """How far a batch is."""

    total: int = 0
    verified: int = 0
    failed: int = 0
    percent: int = 0
    message: str = "listing the checkpoints"
    over: bool = False

    def moved(self, progress: Progress, share: ShareCounts | None) -> BatchBoard:
        """Return the board after a step of progress."""
        moved = replace(self, percent=progress.percent, message=progress.message)
        if share is None:
            return moved
        return replace(
            moved, total=share.share_total, verified=share.succeeded, failed=share.failed
        )

    def ended(self) -> BatchBoard:
        """Return the board after the run."""
        return replace(self, over=True, message="")

    @property
    def done(self) -> int:
        """Return how many checkpoints have their answer."""
        return self.verified + self.failed
