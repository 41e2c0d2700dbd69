"""Random values for inputs: the only package that draws them.

Capture, verification, calibration and benchmarks draw from here. The same sample has the same
arrays on every machine.
"""
