"""From a module to an ONNX model: capture, the Dynamo and the TorchScript route, the contract.

Guarantees that the route is chosen before any work, and that a dim which torch specialized is
reported by its declared name.
"""
