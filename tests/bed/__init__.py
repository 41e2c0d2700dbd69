"""The test bed: real etcd, Kubernetes, containerd and S3, without docker or a registry.

Tests use the fixtures in `bed.fixtures`; people use `python -m bed` (behind `make testbed`).
Every part is built or installed once, kept outside the tree (`bed.places`), and started in a
directory of its own that disappears with it.
"""
