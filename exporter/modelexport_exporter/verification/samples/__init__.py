"""Which inputs the artifact is verified on: sizes, drawn and injected values, golden inputs."""
