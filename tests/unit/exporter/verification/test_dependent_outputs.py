"""Outputs that depend on rankings and on random numbers, also through bodies of If."""

from __future__ import annotations

from pathlib import Path

import onnx
import onnx.parser
import pytest

from modelexport_api.reasons import Reason
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.verification.dependent_outputs import (
    RANKING,
    check_not_random,
    dependent_outputs,
    rounded_outputs,
)

RANKS = """
<ir_version: 8, opset_import: ["": 18]>
net (float[n] x, int64[1] k, bool b) => (float[k] best, float[n] plain, float[k] sum, float[m] if)
{
    best, places = TopK(x, k)
    plain = Relu(x)
    sum = Add(best, best)
    if = If (b) <
        then_branch = inner () => (float[k] t) { t, places2 = TopK(x, k) },
        else_branch = other () => (float[n] e) { e = Identity(x) }
    >
}
"""


def test_outputs_that_depend_on_a_ranking(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    onnx.save(onnx.parser.parse_model(RANKS), path)
    assert dependent_outputs(path, RANKING, {"TopK", "Relu"}) == {"best", "sum", "if"}


def test_file_without_a_ranking_is_not_read(tmp_path: Path) -> None:
    missing = tmp_path / "missing.onnx"
    assert dependent_outputs(missing, RANKING, {"ArgMax", "Gemm"}) == frozenset()


def test_what_is_no_onnx_ranks_nothing(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(b"no onnx")
    assert dependent_outputs(path, RANKING, {"TopK"}) == frozenset()


@pytest.mark.parametrize("operator", ["RandomUniformLike", "Bernoulli", "RandomNormalLike"])
def test_a_file_that_draws_random_numbers_does_not_agree(operator: str, tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    text = RANKS.replace("plain = Relu(x)", f"plain = {operator}(x)")
    onnx.save(onnx.parser.parse_model(text), path)
    with pytest.raises(ExportFailure) as failure:
        check_not_random(path, {"TopK", operator})
    assert failure.value.reason is Reason.VERIFICATION_FAILED
    assert f"output plain of the file depends on random numbers ({operator})" in str(failure.value)


def test_random_numbers_that_no_output_depends_on_are_harmless(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    text = RANKS.replace("plain = Relu(x)", "plain = Relu(x)\n unused = RandomUniformLike(x)")
    onnx.save(onnx.parser.parse_model(text), path)
    check_not_random(path, {"TopK", "RandomUniformLike"})


ROUNDS = """
<ir_version: 8, opset_import: ["": 18]>
net (float[n] x, int64[n] i) => (int64[n] bucket, float[n] kept, int32[n] narrow, float[n] from)
{
    bucket = Cast <to = 7> (x)
    kept = Relu(x)
    narrow = Cast <to = 6> (i)
    back = Cast <to = 1> (bucket)
    from = Add(back, x)
}
"""


def test_outputs_that_depend_on_a_float_that_becomes_an_integer(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    onnx.save(onnx.parser.parse_model(ROUNDS), path)
    assert rounded_outputs(path, {"Cast", "Relu"}) == {"bucket", "from"}
    assert rounded_outputs(tmp_path / "missing.onnx", {"Relu"}) == frozenset()
