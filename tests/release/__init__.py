"""What a release consists of, built from a commit: `make release`, `make release-check`."""
