"""Precision: files that compute in float16, bfloat16 or int8, and the accuracy lost to that.

`apply` converts the graph between translation and writing; `noise` simulates the precision in eager
PyTorch to measure how much of the error it explains.
"""
