"""Every private name of torch, onnxscript and onnxruntime that the exporter depends on.

No other room imports one. A test for each name fails when a release removes or changes it.
"""
