"""How files reach their final names: staging, manifest.json as the commit point, cleaning up.

Guarantees that nothing appears under a final name unless it was verified.
"""
