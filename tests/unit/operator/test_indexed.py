"""A batch as an Indexed Job."""

from __future__ import annotations

import pytest

from modelexport_api.reasons import PERMANENT_EXIT_CODES
from modelexport_operator import indexed
from modelexport_operator.job import build
from unit.operator.objects import BATCH, SETTINGS, export


def test_every_share_is_an_index_and_failed_indexes_do_not_stop_others() -> None:
    spec = build(export({**BATCH, "parallelism": 4, "backoffLimit": 2}), SETTINGS)["spec"]
    assert spec["completionMode"] == "Indexed"
    assert spec["completions"] == spec["parallelism"] == spec["maxFailedIndexes"] == 4
    assert spec["backoffLimitPerIndex"] == 2
    assert "backoffLimit" not in spec


def test_only_a_failure_of_the_whole_batch_ends_the_job() -> None:
    _, fail = build(export(BATCH), SETTINGS)["spec"]["podFailurePolicy"]["rules"]
    assert fail["action"] == "FailJob"
    assert fail["onExitCodes"]["values"] == [*PERMANENT_EXIT_CODES]


def test_a_list_with_one_checkpoint_is_a_batch() -> None:
    listed = {**BATCH, "source": {"uris": ["s3://models/a.pt"], "format": "StateDict"}}
    assert build(export(listed), SETTINGS)["spec"]["completionMode"] == "Indexed"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", set()),
        ("0", {0}),
        ("0,3-5", {0, 3, 4, 5}),
        ("1-2,7", {1, 2, 7}),
        ("x,2", {2}),
    ],
)
def test_parse_indexes(text: str, found: set[int]) -> None:
    assert indexed.parse(text) == found
