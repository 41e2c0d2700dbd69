"""Faults of the store, its servers and its network, by a proxy in front of a real S3 server."""
