"""Seek samples that ordinary ones leave out: another side of a branch, an output with elements."""
