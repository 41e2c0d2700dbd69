"""The functions that run in worker processes, with torch imported: export, verify, measure.

Each is called by its name in `core/entry_points.py`; the supervisor never imports this package.
"""
