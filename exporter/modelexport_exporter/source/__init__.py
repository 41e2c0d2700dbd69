"""Fetches what a run needs to this machine: checkpoint, code, libraries, input files.

Guarantees that every file is identified by its digest.
"""
