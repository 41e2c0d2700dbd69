"""After a mismatch: which node of the file computes something else than eager PyTorch, and where.

Both sides run once with a fingerprint of every intermediate value. Values that agree bound the
region that may be wrong; eager's value put in place of a suspect shows whether the rest of the file
is right. Guarantees bounded memory and time, and that no failure of the search hides the mismatch.
"""
