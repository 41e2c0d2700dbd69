"""Operators that no exporter translates: all of them, with their line and their way out."""
