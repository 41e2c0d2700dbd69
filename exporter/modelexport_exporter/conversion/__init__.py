"""What the stages capture and convert are made of: routes, dims, failures, private parts of torch.

Guarantees that the route is chosen before any work, that a dim which torch narrowed is told by its
declared name, and that each private name of torch and onnxscript is used in one place and pinned by
a test.
"""
