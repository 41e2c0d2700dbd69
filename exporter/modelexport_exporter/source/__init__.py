"""What a run needs on this machine before it starts: checkpoint, code, libraries, input files.

Guarantees that every file is identified by its digest and that a download resumes nothing stale.
"""
