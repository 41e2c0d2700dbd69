"""What is found by its name: functions that run in workers, modules and packages.

A test resolves every entry. Functions and classes are `module:name`, so that the supervisor never
imports torch to start a worker.
"""

from __future__ import annotations

_ROOT = "modelexport_exporter"

EXPORT = f"{_ROOT}.workers.export:export_model"
VERIFY = f"{_ROOT}.workers.verify:verify_model"
READ_ARTIFACT = f"{_ROOT}.workers.artifact:read_artifact"
READ_EXTERNAL_NAMES = f"{_ROOT}.workers.artifact:read_external_names"
BENCHMARK = f"{_ROOT}.workers.benchmark:measure"
BENCHMARK_COMPILED = f"{_ROOT}.workers.benchmark:measure_compiled"
DIAGNOSE = f"{_ROOT}.workers.diagnose:diagnose_model"
INFER = f"{_ROOT}.workers.infer:infer_inputs"

RESIDENT_EXPORTER = f"{_ROOT}.workers.resident_exporter:ResidentExporter"
REBIND = f"{RESIDENT_EXPORTER}.rebind"
"""Known only to a worker pool that keeps graphs."""
JUDGE = f"{_ROOT}.workers.judge:Judge"
REFERENCE = f"{_ROOT}.workers.reference:Reference"
RUNTIME = f"{_ROOT}.workers.runtime:FileRuntime"
"""Together they verify: `pipeline.verifier`."""

ENDS_WITH_PARENT = f"{_ROOT}.isolation.ends_with_parent"
FORK_SERVER = f"{_ROOT}.isolation.fork_server"
PRELOAD = f"{_ROOT}.workers.preload"
"""Modules that the fork server imports."""

REPORT_TEMPLATES = f"{_ROOT}.report"
BATCH_TEMPLATES = f"{_ROOT}.batch"
"""Packages with Jinja templates."""
