"""The vocabulary that every room shares: types, errors, dims, digests, progress and logs.

Imports nothing but the API, and neither torch nor onnx, so that the supervisor stays small.
"""
