"""Running an artifact in onnxruntime: sessions, execution providers, feeds."""
