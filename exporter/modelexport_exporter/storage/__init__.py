"""Objects under keys, in S3 or in directories, behind one protocol (`store`).

Guarantees that a stage never asks which store it talks to, that nothing is seen half-written under
its name, and that every refusal is a typed failure that says whether a retry can help.
"""
