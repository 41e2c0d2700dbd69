"""The artifact on disk: an ONNX model, its external data, and what both say of themselves.

Guarantees the same bytes for the same model, no second copy of the weights while they are written,
and properties that are read back from the file, not taken from its writer.
"""
