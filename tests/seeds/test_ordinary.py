"""Right models as users write them: each must be published, and right."""

from __future__ import annotations

from typing import Any

import pytest

from seeds.case import Case, integers, tensor
from seeds.harness import Bench, each


def case(row: str, name: str, model: str, *inputs: Any, **options: Any) -> Case:  # noqa: ANN401
    factory = model if ":" in model else f"ordinary:{model}"
    return Case(row, name, factory, inputs, **{"edges": (), **options})


X = tensor("x", "n", 16)
IMAGE = tensor("x", 1, 3, "h", "w")
ROWS, SIZES = {"n": (1, 64)}, {"n": (8, 100)}
CASES = (
    case(
        "R1",
        "masked_encoder",
        "MaskedEncoder",
        integers("ids", "n", "time", low=1, high=39),
        dims={"n": (1, 8), "time": (1, 32)},
    ),
    case(
        "R1",
        "padded_encoder",
        "PaddedEncoder",
        tensor("x", "n", "time", 16),
        {**tensor("padding", "n", "time", dtype="bool"), "kind": "PaddingMask"},
        dims={"n": (1, 8), "time": (1, 32)},
    ),
    case(
        "R1",
        "last_of_each_row",
        "LastOfEachRow",
        tensor("x", "n", "time", 4),
        {**tensor("mask", "n", "time", dtype="int64"), "kind": "AttentionMask"},
        dims={"n": (1, 8), "time": (1, 32)},
    ),
    case(
        "R4",
        "speeds_along_a_path",
        "SpeedsAlongAPath",
        tensor("x", "n", 3),
        tensor("seconds", "n - 1", low=0.1, high=9),
        dims={"n": (2, 40)},
    ),
    case(
        "R1 R4",
        "padded_steps",
        "PaddedSteps",
        tensor("x", 2, "n", 16),
        {**tensor("padding", 2, "n", dtype="bool"), "kind": "PaddingMask"},
        tensor("gaps", "n - 1", low=0.1, high=5),
        dims={"n": (2, 30)},
    ),
    case(
        "R4",
        "both_halves",
        "BothHalves",
        X,
        tensor("y", "2 * n + 1", 16),
        dims=ROWS,
    ),
    case(
        "R1 R4",
        "cached_step",
        "steps_with_cache:CachedStep",
        tensor("x", "n", "tokens", 16),
        {**tensor("attention_mask", "n", "past + tokens", dtype="int64"), "kind": "AttentionMask"},
        tensor("past_keys", "n", 2, "past", 8),
        tensor("past_values", "n", 2, "past", 8),
        dims={"n": (1, 4), "tokens": (1, 8), "past": (0, 16)},
    ),
    case(
        "R4", "whole_weeks", "WholeWeeks", tensor("x", "n", "days"), dims={**ROWS, "days": (1, 30)}
    ),
    case("R2", "rare_labels", "RareLabels", X, dims=ROWS, rtol=1e-3),
    case("R2", "rare_gates", "RareGates", X, dims=ROWS, rtol=1e-3),
    case("R3", "sparse_scores", "SparseScores", X, dims=ROWS, tied=True),
    case("R3", "votes", "Votes", X, dims=ROWS, tied=True),
    case("S14", "bags_of_words", "BagsOfWords", integers("ids", "n", 5, low=0, high=19), dims=ROWS),
    case(
        "S14",
        "bags_of_hashes",
        "BagsOfHashes",
        integers("ids", "n", dtype="int32", low=-(2**31), high=2**31 - 1),
        integers("history", "m", 6, low=0, high=9),
        tensor("weights", "m", 6),
        dims={"n": (1, 30), "m": (1, 4)},
    ),
    case(
        "R4",
        "kernels_of_each_sample",
        "Modulated",
        tensor("x", "b", 4, "h", "w"),
        tensor("style", "b", 5),
        dims={"b": (1, 5), "h": (3, 20), "w": (3, 20)},
    ),
    case(
        "R4",
        "kernels_of_each_signal",
        "signals:Deltas",
        tensor("x", "b", 3, "t"),
        dims={"b": (1, 5), "t": (3, 40)},
    ),
    case(
        "R4",
        "next_power_of_two",
        "signals:FastConvolution",
        tensor("x", "b", "n"),
        dims={"b": (1, 3), "n": (2, 140)},
    ),
    case(
        "R4",
        "waves_of_a_field",
        "signals:FilteredField",
        tensor("x", "b", 2, "h", "w"),
        dims={"b": (1, 4), "h": (6, 16), "w": (6, 16)},
    ),
    case(
        "R4",
        "denoised",
        "signals:Denoised",
        tensor("x", "b", "n"),
        tensor("heads", "b", 30),
        dims={"b": (1, 4), "n": (16, 100)},
    ),
    case(
        "R4",
        "streamed",
        "signals:Streamed",
        tensor("x", "b", 1, "n"),
        dims={"b": (1, 4), "n": (1, 100)},
    ),
    case(
        "R4",
        "resampled",
        "signals:Resampled",
        tensor("x", "b", 1, "n"),
        dims={"b": (1, 4), "n": (1, 100)},
    ),
    case(
        "R4",
        "few_keys",
        "signals:FewKeys",
        tensor("x", "b", "n", 4),
        dims={"b": (1, 4), "n": (1, 100)},
    ),
    case(
        "R4",
        "sampled_levels",
        "detectors:SampledLevels",
        tensor("x", "b", 3, "h", "w"),
        dims={"b": (1, 4), "h": (1, 20), "w": (1, 20)},
    ),
    case(
        "R4",
        "deformable_convolution",
        "detectors:DeformableConvolution",
        tensor("x", "b", 4, "h", "w"),
        dims={"b": (1, 4), "h": (1, 12), "w": (1, 12)},
    ),
    case(
        "R4",
        "beamformer",
        "detectors:Beamformer",
        tensor("x", "b", 3, "n"),
        dims={"b": (1, 3), "n": (16, 100)},
    ),
    case("R5", "fixed_point", "quantizing:FixedPoint", tensor("x", "n", 4), dims=ROWS),
    case(
        "R5",
        "divides_by_branch",
        "quantizing:DividesByBranch",
        integers("x", "n", 3, low=-32768, high=32767, dtype="int16"),
        integers("y", "n", 3, low=-(2**31), high=2**31 - 1, dtype="int32"),
        dims=ROWS,
    ),
    case(
        "R4",
        "aliases_of_mixed_types",
        "Aliases",
        tensor("x", "n", 5),
        integers("i", "n", 5, low=-5, high=5),
        dims=ROWS,
    ),
    case("R4", "centre_crop", "CentreCrop", tensor("x", 1, 3, "n"), dims=SIZES),
    case("R4", "whole_windows", "WholeWindows", IMAGE, dims={"h": (4, 40), "w": (4, 40)}),
    case("R4", "restored_size", "RestoredSize", IMAGE, dims={"h": (4, 40), "w": (4, 40)}),
    case(
        "R5",
        "samples_of_16_bits",
        "signals:SamplesOf16Bits",
        integers("pcm", "n", 2, "time", low=-32768, high=32767, dtype="int16"),
        dims={"n": (1, 4), "time": (1, 40)},
    ),
    case(
        "R5",
        "flags_of_bytes",
        "FlagsOfBytes",
        integers("flags", "n", low=0, high=255, dtype="uint8"),
        tensor("on", "n", dtype="bool"),
        dims=ROWS,
    ),
    case(
        "R5",
        "degrees",
        "graphs:Degrees",
        tensor("nodes", "n", 4),
        integers("edges", "e", low=0, high=1000),
        dims={"n": (1, 20), "e": (0, 40)},
    ),
    case(
        "R6",
        "readout",
        "graphs:Readout",
        tensor("x", "n", 6),
        integers("owner", "n", low=0, high=4),
        dims={"n": (2, 20)},
    ),
    case(
        "R6",
        "readout_by_counts",
        "graphs:ReadoutByCounts",
        tensor("x", "n", 4),
        integers("owner", "n", low=0, high=4),
        dims={"n": (1, 20)},
    ),
    case(
        "R4",
        "linear_chain",
        "dynamic_programs:LinearChain",
        tensor("scores", "n", "steps", 4),
        tensor("kept", "n", "steps", dtype="bool"),
        dims={"n": (1, 4), "steps": (1, 20)},
    ),
    case(
        "R4",
        "viterbi",
        "dynamic_programs:Viterbi",
        tensor("scores", "n", "steps", 4),
        dims={"n": (1, 4), "steps": (1, 12)},
    ),
    case(
        "R5",
        "cached_tables",
        "cached_tables:CachedTables",
        tensor("x", "batch", "steps", 8),
        dims={"batch": (1, 4), "steps": (1, 12)},
    ),
    case(
        "R5",
        "cells_of_points",
        "graphs:Cells",
        tensor("points", "n", 3),
        integers("codes", "n", low=-9, high=9, dtype="int16"),
        integers("flags", "n", low=0, high=9, dtype="uint8"),
        dims={"n": (1, 30)},
    ),
    case(
        "R4",
        "edit_distance",
        "dynamic_programs:EditDistance",
        integers("guess", "n", "steps", low=0, high=5),
        integers("text", "n", "letters", low=0, high=5),
        dims={"n": (1, 4), "steps": (1, 14), "letters": (1, 14)},
    ),
    case(
        "R4",
        "positions_by_factor",
        "PositionsByFactor",
        IMAGE,
        dims={"h": (16, 80), "w": (16, 80)},
    ),
    case("R4", "to_height_of_32", "ToHeightOf32", IMAGE, dims={"h": (4, 40), "w": (4, 40)}),
    case("R4", "whole_rows", "WholeRows", X, dims=ROWS),
    case("R6", "experts", "Experts", X, integers("mode", low=0, high=3), dims=ROWS),
    case("R4", "chunks", "Chunks", X, dims={"n": (1, 10)}),
    case("R4", "framed", "signals:Framed", tensor("x", 2, "n"), dims=SIZES),
    case("R4", "upsample_by_tenth", "UpsampleByTenth", tensor("x", 1, 3, "n", 12), dims=SIZES),
)


@pytest.mark.parametrize("case", each(CASES))
def test_case(case: Case, bench: Bench) -> None:
    bench.check(case)
