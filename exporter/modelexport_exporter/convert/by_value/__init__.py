"""One graph for each path through the model's branches on values, joined by the ONNX operator If.

torch.export refuses `if x.max() > 1`. Here forward runs once for each path: every decision is
forced, and its condition is one more output of the graph.
"""
