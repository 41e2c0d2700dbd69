"""Verification: samples, the eager reference, the onnxruntime session, tolerances and the verdict.

Guarantees that the artifact is compared with eager PyTorch on inputs that the spec allows, on the
requested execution provider, within limits that are pure functions.
"""
