"""What users write to teach the exporter: each module is one plugin."""
