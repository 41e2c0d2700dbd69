"""Precision: files that compute in float16, bfloat16 or int8, and what that costs in accuracy.

`applied` converts the graph between translation and writing; `noise` tells how much of the error
is the precision's own, by eager PyTorch in a simulation of it.
"""
