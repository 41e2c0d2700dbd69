"""The simulation that a file of another precision than its model's is judged by."""

from __future__ import annotations

from modelexport_api.spec import ModelExportSpec, Precision
from modelexport_exporter.call.golden import read_golden
from modelexport_exporter.core.types import ExportTask
from modelexport_exporter.precision.noise import Simulation
from modelexport_exporter.verification.numerics.perturbed_arithmetic import (
    PerturbedArithmeticUnavailable,
    reported_as_unavailable,
)
from modelexport_exporter.verification.reference import EagerReference


def simulation_for(
    task: ExportTask, spec: ModelExportSpec, reference: EagerReference
) -> Simulation | None:
    """Return the simulation of the spec's precision, calibrated as the file; None for Native.

    Where the calibration inputs are not at hand, or the module does not run below a dispatch mode,
    activations have the ranges that they have: less is explained by them.
    """
    precision = spec.export.precision
    if precision is Precision.NATIVE:
        return None
    simulation = Simulation.of(precision, reference.state().values())
    samples = read_golden(task.calibration_inputs, spec) if task.calibration_inputs else ()
    for sample in samples:
        try:
            with reported_as_unavailable():
                reference.observe(sample.inputs, simulation)
        except PerturbedArithmeticUnavailable:
            break
    return simulation
