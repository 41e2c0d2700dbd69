"""Manifests that are wrong in every way a seed can draw, and what product and API server answer."""
