"""Adapters for plugins that were written for older releases of torch."""
