"""Hostile code of a model, in whole runs of the pod's process against the real S3 server."""
