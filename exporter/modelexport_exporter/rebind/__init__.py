"""Exporting the next checkpoint of a model that was exported already: other weights, same graph.

Guarantees that nothing is taken over that depends on weights: the graph is kept as it was
translated, before any optimization, and each checkpoint's file is optimized with its own weights
and verified on them. What does not fit, or does not verify, is exported afresh.
"""
