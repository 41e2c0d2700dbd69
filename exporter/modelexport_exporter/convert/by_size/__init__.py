"""One graph for each side of the conditions on sizes, joined by the ONNX operator If.

Where forward decides by a size (`if h < w`, a table that grows, windows that do not fit), one
capture of torch.export holds for the sizes on its example's sides only.
"""
