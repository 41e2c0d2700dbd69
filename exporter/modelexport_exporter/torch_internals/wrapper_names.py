"""The names under which wrappers of training register the module that they wrap.

They are also segments in the names of weights, so checkpoints hold them.
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
