"""How far outputs may differ: comparison, tolerance, the model's own rounding error."""
