"""The functions that run in child processes, with torch imported: export, verify, measure.

Each is called by its name as "module:function"; the supervisor never imports this package.
"""
