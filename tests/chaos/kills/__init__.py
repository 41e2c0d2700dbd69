"""Processes of exports are killed at many instants, and the bucket is watched meanwhile."""
