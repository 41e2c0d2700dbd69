"""Which sizes and values of the inputs were tried."""

from __future__ import annotations

from modelexport_exporter.report.tried import tried_of
from unit.exporter.report.reports import (
    SPACE,
    report,
    spec,
)


def test_each_input_says_which_sizes_and_values_were_tried() -> None:
    tried = [
        {
            "name": "ids",
            "shapes": [[1, 9], [16, 9], [7, 9]],
            "low": 0.0,
            "high": 999.0,
            "kinds": ["normal", "zeros"],
        },
        {"name": "x", "shapes": [[n] for n in range(1, 21)], "low": 2.5, "high": 2.5,
         "notFinite": 1, "kinds": ["NaN"]},
        {"name": "n", "shapes": [[]], "kinds": ["normal"]},
    ]  # fmt: skip
    inputs = [
        {"name": "ids", "dtype": "int64", "shape": ["batch", 9], "range": [0, 999]},
        {"name": "x", "dtype": "float32", "shape": ["n"]},
    ]
    found = tried_of(report(tried=tried, spec=spec(inputs=inputs)))
    assert found.kinds == ""
    assert [(row.name, row.declared, row.sizes, row.values, row.kinds) for row in found.rows] == [
        ("ids", "int64[batch, 9] in 0 to 999", "batch: 1, 7, 16", "0 to 999", "normal, zeros"),
        (
            "x",
            "float32[n]",
            "n: 20 sizes from 1 to 20",
            f"2.5; NaN or infinity in 1{SPACE}sample",
            "NaN",
        ),
        ("n", "–", "the declared ones", "no elements", "normal"),
    ]


def test_kinds_of_values_that_all_inputs_have_are_said_once() -> None:
    tried = [{"name": name, "shapes": [[1]], "kinds": ["normal", "zeros"]} for name in "xy"]
    assert tried_of(report(tried=tried)).kinds == "normal, zeros"
