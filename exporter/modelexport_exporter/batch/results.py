"""The results of a batch: every checkpoint, as JSON, as CSV, and as counts. Pure."""

from __future__ import annotations

import csv
import io
from collections import Counter
from typing import Literal

from pydantic import Field

from modelexport_api.base import ApiModel
from modelexport_api.items import ShareCounts
from modelexport_exporter.batch.item_result import ItemResult, pending_result
from modelexport_exporter.batch.plan import Planned

RESULTS_NAME = "results.json"
_EXAMPLE_LIMIT = 512
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
COLUMNS = tuple(ItemResult.model_fields)


class Results(ApiModel):
    """The content of results.json."""

    results_version: Literal[1] = 1
    name: str
    namespace: str | None = None
    uid: str | None = None
    total: int
    succeeded: int
    failed: int
    pending: int
    reasons: dict[str, int] = Field(default_factory=dict)
    """Failed checkpoints by reason."""
    max_failed: int = 0
    """How many may fail: spec.maxFailed."""
    items: list[ItemResult]

    def encode(self) -> bytes:
        """Return results.json."""
        return self.model_dump_json(by_alias=True, exclude_none=True, indent=1).encode()


def results_of(planned: Planned, known: list[ItemResult]) -> Results:
    """Return the results of a batch from the known results of its checkpoints."""
    by_index = {result.index: result for result in known}
    items = [by_index.get(item.index) or pending_result(item) for item in planned.plan.items]
    outcomes = Counter(item.outcome for item in items)
    metadata = planned.resource.metadata
    return Results(
        name=metadata.name,
        namespace=metadata.namespace,
        uid=metadata.uid,
        total=len(items),
        succeeded=outcomes["Succeeded"],
        failed=outcomes["Failed"],
        pending=outcomes["Pending"],
        reasons=reasons_of(items),
        max_failed=planned.resource.spec.max_failed,
        items=items,
    )


def reasons_of(items: list[ItemResult]) -> dict[str, int]:
    """Return failed checkpoints by reason, the most frequent first."""
    found = Counter(item.reason.value for item in items if item.reason is not None)
    return dict(sorted(found.items(), key=lambda entry: (-entry[1], entry[0])))


def counts_of(
    planned: Planned, share: int, known: list[ItemResult], *, running: int = 0
) -> ShareCounts:
    """Return the counts of a share."""
    failed = sorted((item for item in known if item.reason), key=lambda item: item.index)
    first = failed[0] if failed else None
    example = f"{first.name}: {first.reason}: {first.message}" if first else ""
    return ShareCounts(
        share=share,
        batch_total=len(planned.plan.items),
        share_total=len(planned.plan.share(share)),
        succeeded=len(known) - len(failed),
        failed=len(failed),
        running=running,
        reasons=reasons_of(failed),
        example=example[:_EXAMPLE_LIMIT],
        results_uri=planned.directory.child(RESULTS_NAME).uri,
    )


def table_of(results: Results) -> bytes:
    """Return results.csv: the same rows for a spreadsheet, with formulas quoted."""
    written = io.StringIO()
    table = csv.writer(written, lineterminator="\n")
    table.writerow([ItemResult.model_fields[name].alias for name in COLUMNS])
    for item in results.items:
        row = item.model_dump(mode="json")
        table.writerow([_cell(row[name]) for name in COLUMNS])
    return written.getvalue().encode()


def _cell(value: object) -> object:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
