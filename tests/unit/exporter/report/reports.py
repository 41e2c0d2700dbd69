"""Reports to make pages of, in the words of report.json."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from modelexport_exporter.report.report import Report

STARTED = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
DIGEST = "ab" * 32

SPACE = "\N{NO-BREAK SPACE}"
"""Between a number and its unit."""


def compared(
    output: str, error: float | str, limit: float = 1e-4, **more: object
) -> dict[str, Any]:
    return {
        "output": output,
        "maxAbsError": error,
        "maxRelError": error,
        "limit": limit,
        **more,
    }


def sample(*outputs: dict[str, Any], batch: int = 1, seed: int = 0) -> dict[str, Any]:
    return {"dims": {"batch": batch}, "seed": seed, "values": "normal", "outputs": list(outputs)}


def spec(**more: object) -> dict[str, Any]:
    return {
        "source": {"uri": "s3://models/m.pt"},
        "inputs": [{"name": "x", "kind": "Tensor", "dtype": "float32", "shape": ["batch", 4]}],
        "dims": {"batch": {"min": 1, "max": 16}},
        "outputs": ["y"],
        "export": {"opset": 20},
        "destination": {"uri": "s3://models/onnx/", "layout": "Plain"},
        **more,
    }


def artifact(**more: object) -> dict[str, Any]:
    return {
        "uri": "s3://models/onnx/model.onnx",
        "sha256": DIGEST,
        "sizeBytes": 43_100,
        "opset": 20,
        "irVersion": 10,
        "exporter": "Dynamo (torch 2.15.0)",
        "inputs": [{"name": "x", "dtype": "float32", "shape": ["batch", 4]}],
        "outputs": [{"name": "y", "dtype": "float32", "shape": ["batch", 2]}],
        "files": [{"name": "model.onnx", "sha256": DIGEST, "sizeBytes": 43_100}],
        **more,
    }


def verification(**more: object) -> dict[str, Any]:
    return {
        "verdict": "Verified",
        "provider": "CPU",
        "samples": 2,
        "maxAbsError": 1e-6,
        "maxRelError": 1e-6,
        "toleranceSource": "Calibrated",
        **more,
    }


def report(**more: object) -> Report:
    """Return the report of a success, changed by what is given."""
    return Report.model_validate(
        {
            "outcome": "Succeeded",
            "name": "small",
            "spec": spec(),
            "specSha256": DIGEST,
            "source": {"uri": "s3://models/m.pt", "sha256": DIGEST},
            "started": STARTED,
            "finished": STARTED + timedelta(seconds=12.5),
            "stages": [{"stage": "Fetch", "seconds": 0.5}, {"stage": "Verify", "seconds": 2.0}],
            "artifact": artifact(),
            "operators": {"Gemm": 2, "Relu": 1},
            "attempts": [{"rung": "Dynamo", "seconds": 12.0, "outcome": "Verified"}],
            "verification": verification(),
            "samples": [sample(compared("y", 1e-6)), sample(compared("y", 0.0), batch=7, seed=1)],
            "environment": {
                "versions": {"torch": "2.15.0"},
                "python": "3.11.7",
                "platform": "Linux",
                "cpus": 2,
            },
            "peakMemoryBytes": 521_000_000,
            **more,
        }
    )


def failed(
    reason: str, message: str = "it is so", hint: str = "change it", **more: object
) -> Report:
    """Return the report of a failure."""
    fields: Any = more.pop("failure", {})
    failure = {"reason": reason, "message": message, "hint": hint} | fields
    absent: dict[str, object] = {
        "artifact": None,
        "verification": None,
        "attempts": [],
        "samples": [],
    }
    return report(**{"outcome": "Failed", "operators": {}, "failure": failure} | absent | more)
