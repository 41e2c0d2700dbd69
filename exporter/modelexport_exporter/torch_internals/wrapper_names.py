"""The names under which wrappers of training register the module that they wrap.

They are also segments in the names of weights, so checkpoints hold them. And names that torch gives
nodes in the place of a module.
"""

from __future__ import annotations

COMPILED = "_orig_mod"
"""torch.compile"""
CHECKPOINTED = "_checkpoint_wrapped_module"
"""torch.distributed.algorithms' activation checkpointing"""
SHARDED = "_fsdp_wrapped_module"
"""torch.distributed.fsdp.FullyShardedDataParallel"""
FABRIC = "_forward_module"
"""Lightning Fabric, whose wrapper is not torch's"""

NO_MODULE = "_empty_nn_module_stack_from_metadata_hook"
"""A node that a pass of torch.export made of none of the model's"""


def own_path(path: str) -> str:
    """Return a module's path without these names: as the model's code calls it."""
    return ".".join(segment for segment in path.split(".") if segment not in _NOT_OWN)


_NOT_OWN = frozenset({COMPILED, CHECKPOINTED, SHARDED, FABRIC, NO_MODULE})
