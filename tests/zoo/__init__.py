"""Models for the exporter's tests: `code` is what a user would put into model.code."""
