"""A package, so that factories are found below the root of the code."""
