"""Who is asked about a file: the product's gate, and its peers' on the same file.

Ours is what the product does between writing a file and publishing it: read it back, check the
contract, run the ONNX checker, then `verify_model`.

Optimum's is `_run_validation` of huggingface/optimum-onnx (optimum/exporters/onnx/convert.py,
1939f27): one set of random inputs at the export's sizes, names and shapes of outputs compared, then
np.allclose with the configuration's atol (1e-5 unless a configuration says otherwise, and numpy's
rtol of 1e-5), in a session with basic optimizations.

`verify=True` is torch.onnx.export's (torch/onnx/_internal/exporter/_core.py): the ONNX checker,
then torch.onnx.verification on the example inputs of the export, found fault with from 5e-3 or a
tenth of an element on. Both only warn about what they find.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import onnx
import onnxruntime
import torch
from torch.onnx.verification import VerificationInfo

from modelexport_api.status import Verdict
from modelexport_exporter.convert.contract import check_contract, check_file
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.types import ConvertedModel, ExportTask
from modelexport_exporter.onnx_file.read_back import read_back
from modelexport_exporter.verification.smallest_failure import SmallestFailure
from modelexport_exporter.verification.verdict import describe_mismatch
from modelexport_exporter.workers.local_original import LocalOriginal
from modelexport_exporter.workers.verify import verify_model
from models.exporting import silent
from mutants.truth import Array, run

OPTIMUM_ATOL = 1e-5
TORCH_ABSOLUTE, TORCH_RELATIVE = 5e-3, 1e-1


@dataclass(frozen=True)
class Opinion:
    """Whether somebody refuses a file, and why."""

    refused: bool
    why: str = ""


def ours(task: ExportTask, converted: ConvertedModel, path: Path) -> Opinion:
    """Return what the product says of the file: refused unless its verdict is Verified."""
    try:
        facts = read_back(path)
        check_contract(task.spec, facts)
        check_file(path)
        file = replace(
            converted,
            model_path=path,
            inputs=facts.inputs,
            outputs=facts.outputs,
            op_counts=facts.op_counts,
        )
        with _unexplained():
            outcome = verify_model(task, file, silent)
    except ExportFailure as failure:
        return Opinion(refused=True, why=f"{failure.reason.value}: {failure}")
    verdict = outcome.summary.verdict
    if verdict is Verdict.VERIFIED:
        return Opinion(refused=False)
    why = describe_mismatch(outcome)[0] if outcome.first_problem else ""
    return Opinion(refused=True, why=f"{verdict.value}: {why}")


@contextmanager
def _unexplained() -> Iterator[None]:
    """Leave out what follows a verdict: the search for the node to blame takes longer than it."""
    with (
        mock.patch.object(SmallestFailure, "blame", return_value=None),
        mock.patch.object(LocalOriginal, "pitfalls", return_value=()),
    ):
        yield


def optimum(path: Path, feed: Mapping[str, Array], expected: Sequence[Array]) -> Opinion:
    """Return what Optimum's validation says; `expected`: eager's outputs on the feed."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    try:
        session = onnxruntime.InferenceSession(
            str(path), options, providers=["CPUExecutionProvider"]
        )
        outputs = run(session, feed)
    except Exception as error:  # noqa: BLE001 - Optimum's export ends with whatever it is
        return Opinion(refused=True, why=str(error)[:200])
    for want, have in zip(expected, outputs, strict=True):
        if want.shape != have.shape:
            return Opinion(refused=True, why=f"shape {have.shape}, reference {want.shape}")
        if not np.allclose(want, have, atol=OPTIMUM_ATOL):
            return Opinion(refused=True, why="values not close enough")
    return Opinion(refused=False)


def verify_true(path: Path, feed: Mapping[str, Array], expected: Sequence[Array]) -> Opinion:
    """Return whether torch.onnx.export(verify=True) would warn."""
    try:
        onnx.checker.check_model(onnx.load(path), full_check=True)
        infos = [
            _info(want, have) for want, have in zip(expected, _outputs(path, feed), strict=False)
        ]
    except Exception as error:  # noqa: BLE001 - torch catches and reports whatever it is
        return Opinion(refused=True, why=str(error)[:200])
    for info in infos:
        if info.max_abs_diff >= TORCH_ABSOLUTE or info.max_rel_diff >= TORCH_RELATIVE:
            return Opinion(refused=True, why=f"off by {info.max_abs_diff:g}")
    return Opinion(refused=False)


def _outputs(path: Path, feed: Mapping[str, Array]) -> list[Array]:
    from mutants.truth import open_session

    return run(open_session(path), feed)


def _info(want: Array, have: Array) -> Any:  # noqa: ANN401
    expected, actual = torch.from_numpy(want.copy()), torch.from_numpy(have.copy())
    return VerificationInfo.from_tensors("output", expected, actual)
