"""Wrong manifests and command lines: what the first message must say."""
