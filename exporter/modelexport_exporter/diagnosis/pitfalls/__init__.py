"""Lines that run in PyTorch and mean something else in a graph, each kind found by its own file.

`static` reads the user's code; `running` runs the model and sees what goes wrong.
"""
