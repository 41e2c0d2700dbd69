"""What the verdict is made of: samples, a reference, a session, tolerances and a budget.

Guarantees that the artifact is held against eager PyTorch on inputs that the spec allows, on the
provider that was asked for, with every limit a pure function that tests can tabulate.
"""
