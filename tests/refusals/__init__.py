"""Models that are refused: what the refusal must say, and whether its advice works."""
