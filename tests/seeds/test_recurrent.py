"""RNN, LSTM and GRU."""

from __future__ import annotations

from typing import Any

import pytest

from seeds.case import Case, array, integers, tensor
from seeds.harness import Bench, each

BOTH = {"time": (1, 30), "n": (1, 9)}
X = tensor("x", "time", "n", 5)
BATCH_FIRST = tensor("x", "n", "time", 5)


def recurrent(name: str, kind: str, x: Any = X, nightly: bool = False, **options: Any) -> Case:  # noqa: ANN401
    kwargs = {"kind": kind, **options}
    return Case("A49", name, "recurrent:Recurrent", (x,), BOTH, kwargs, edges=(), nightly=nightly)


CASES = (
    recurrent("rnn", "RNN"),
    recurrent(
        "rnn_relu_two_layers_both_ways",
        "RNN",
        nonlinearity="relu",
        num_layers=2,
        bidirectional=True,
    ),
    recurrent("lstm", "LSTM"),
    recurrent("lstm_batch_first", "LSTM", BATCH_FIRST, batch_first=True, bias=False, nightly=True),
    recurrent("lstm_three_layers_both_ways", "LSTM", num_layers=3, bidirectional=True, dropout=0.4),
    recurrent("lstm_projected", "LSTM", proj_size=3),
    recurrent("gru", "GRU", nightly=True),
    recurrent(
        "gru_both_ways_batch_first",
        "GRU",
        BATCH_FIRST,
        batch_first=True,
        bidirectional=True,
        num_layers=2,
        nightly=True,
    ),
    Case(
        "A49",
        "gru_with_state",
        "recurrent:WithState",
        (X, tensor("h", 2, "n", 6)),
        BOTH,
        {"kind": "GRU", "num_layers": 2},
        nightly=True,
    ),
    Case(
        "A49",
        "rnn_with_state",
        "recurrent:WithState",
        (X, tensor("h", 1, "n", 6)),
        BOTH,
        {"kind": "RNN"},
        nightly=True,
    ),
    Case(
        "A49",
        "lstm_with_states",
        "recurrent:WithStates",
        (X, tensor("h", 2, "n", 6), tensor("c", 2, "n", 6)),
        BOTH,
        {"bidirectional": True},
        nightly=True,
    ),
    Case(
        "A49",
        "lstm_of_one_size",
        "recurrent:Recurrent",
        (tensor("x", 7, 3, 5),),
        kwargs={"kind": "LSTM"},
        nightly=True,
    ),
    Case(
        "A49",
        "lstm_without_batch",
        "recurrent:Recurrent",
        (tensor("x", "time", 5),),
        {"time": (1, 30)},
        {"kind": "LSTM"},
        nightly=True,
    ),
    Case("A49", "cells", "recurrent:Cells", (tensor("x", 3, "n", 5),), {"n": (1, 9)}),
    Case("A49 D7", "cell_over_time", "recurrent:CellOverTime", (X,), BOTH),
    Case("A49 A48", "tagger", "recurrent:Tagger", (integers("words", "n", "time", high=19),), BOTH),
    Case(
        "A49 A48",
        "tagger_opset_11",
        "recurrent:Tagger",
        (integers("words", "n", "time", high=19),),
        BOTH,
        export={"opset": 11},
        nightly=True,
    ),
    *(
        Case(
            "A49",
            f"packed_{name}",
            f"recurrent:{factory}",
            (tensor("x", "n", "time", 5), integers("lengths", "n", low=1, high=8)),
            {"n": (1, 9), "time": (8, 16)},
            feeds=(
                {
                    "x": array([[[0.5] * 5] * 8] * 4),
                    "lengths": array([1, 8, 3, 3], dtype="int64"),
                },
            ),
            nightly=nightly,
        )
        for name, factory, nightly in (
            ("lstm", "packed_lstm", False),
            ("both_ways", "packed_both_ways", False),
            ("gru", "packed_gru", False),
            ("rnn", "packed_rnn", True),
            ("projected", "packed_projected", True),
            ("and_decoded", "PackedAndDecoded", False),
        )
    ),
)


@pytest.mark.parametrize("case", each(CASES))
def test_case(case: Case, bench: Bench) -> None:
    bench.check(case)
