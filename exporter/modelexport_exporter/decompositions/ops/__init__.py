"""Decompositions of ATen operators, one family of operators a file."""
