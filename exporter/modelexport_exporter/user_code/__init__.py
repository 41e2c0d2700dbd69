"""The code that builds the model: brought in, called, and named where it fails.

Guarantees that an archive writes nothing outside the workspace, that building takes no memory for
weights, and that an exception in user code is told by the line that raised it, never by a
traceback.
"""
