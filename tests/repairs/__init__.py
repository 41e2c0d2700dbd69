"""Minimal cases of what the library of decompositions repairs, exported without the library."""
