"""The operator: watches ModelExports, runs each as a Job, writes what became of it.

Level-based: whatever event arrives, a worker observes what is, decides (pure functions) and acts.
Every step may be repeated and the process may die between any two of them.
"""

from __future__ import annotations
