"""Lines that mean something else in a graph than in PyTorch; one file for each kind.

`running` runs the model and reports the lines that go wrong. `static` reads the user's code, for
the kinds whose line a run does not show.
"""
