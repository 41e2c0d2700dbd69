"""Checkpoints of every format, from a file on disk to tensors in a module.

Guarantees that a checkpoint is known by its bytes, runs no code unless the spec trusts it, is
mapped and not copied, and is refused with a sentence where it is damaged or belongs to another
module.
"""
