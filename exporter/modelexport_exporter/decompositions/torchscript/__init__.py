"""Rewrites of calls that the TorchScript exporter cannot translate, or translates incorrectly."""
