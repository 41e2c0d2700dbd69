"""Every private name of torch, onnxscript and onnxruntime that the exporter depends on.

No other package uses one: `make lint` checks that. A test for each name fails when a release
removes or changes it. Every patch is a context manager that restores what was there.
"""
