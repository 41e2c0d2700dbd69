"""The code that builds the model: imported, called, and named where it fails.

Guarantees that an archive writes nothing outside the workspace, that building takes no memory for
weights, and that an exception in user code is reported by the line that raised it, never by
a traceback.
"""
