"""Checkpoints and ONNX files as somebody else may send them: made from a seed, never by hand."""
