"""The simulation that a file of reduced precision is compared with."""

from __future__ import annotations

from modelexport_api.spec import ModelExportSpec, Precision
from modelexport_exporter.core.types import ExportTask
from modelexport_exporter.precision.noise import Simulation
from modelexport_exporter.sampling.golden import read_golden
from modelexport_exporter.verification.numerics.perturbed_arithmetic import (
    PerturbedArithmeticUnavailable,
    raising_unavailable,
)
from modelexport_exporter.verification.reference import EagerReference


def simulation_for(
    task: ExportTask, spec: ModelExportSpec, reference: EagerReference
) -> Simulation | None:
    """Return the simulation of the spec's precision, calibrated like the file; None for Native.

    Without calibration inputs, or if the module does not run under a dispatch mode, activations
    keep their own ranges, and the simulation explains a smaller error.
    """
    precision = spec.export.precision
    if precision is Precision.NATIVE:
        return None
    simulation = Simulation.of(precision, reference.state().values())
    samples = read_golden(task.calibration_inputs, spec) if task.calibration_inputs else ()
    for sample in samples:
        try:
            with raising_unavailable():
                reference.observe(sample.inputs, simulation)
        except PerturbedArithmeticUnavailable:
            break
    return simulation
