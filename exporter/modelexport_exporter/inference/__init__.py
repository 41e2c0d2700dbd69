"""What a model takes, found without a manifest: from its signature, its layers and trial runs.

A guess of all inputs is run. What refused it (an op, its tensors, the numbers in its message) leads
to the next guess, until forward accepts one. Then sizes and values are varied to find what else it
accepts. Nothing here decides about a file: the verification runs on what was found.
"""
