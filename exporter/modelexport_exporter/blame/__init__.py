"""Fault localization after a mismatch: the first node that differs from eager PyTorch.

Both sides run once with a fingerprint of every intermediate value. Values that match bound the
region that may be wrong; replacing a suspected value by eager's shows whether the rest of the file
is correct. Guarantees bounded memory and time, and that a failed search never hides the mismatch.
"""
