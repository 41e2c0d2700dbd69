"""Measurements: ratios against a named peer in the same run, never a timed unit test."""
