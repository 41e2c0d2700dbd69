"""From a checkpoint to a verified ONNX artifact: the pod's process and the local runner.

A light supervisor (`pipeline`) fetches and publishes and never imports torch; everything that runs
a user's code or holds weights happens in child processes (`export_worker`, `verify_worker`), whose
death is a failure like any other. Each stage is a module here; what stages are made of lies in the
packages below.
"""
