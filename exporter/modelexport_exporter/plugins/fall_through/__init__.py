"""Operators without a translation that onnxruntime runs by calling PyTorch."""
