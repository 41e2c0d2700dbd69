"""Operators without a translation, each with its line and how to support it."""
