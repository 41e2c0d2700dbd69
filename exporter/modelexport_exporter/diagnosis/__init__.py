"""Explains why a model does not export correctly: operators without a translation, and pitfalls.

Nothing here decides whether an export succeeds: the verdict does.
"""
