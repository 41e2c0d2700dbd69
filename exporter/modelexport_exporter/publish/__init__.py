"""How files reach their final names: contents, manifest.json as the commit point, cleaning up.

Guarantees that nothing appears under a final name unless it was verified, and that a reader who
follows the manifest has one whole artifact.
"""
