"""The operator: watches ModelExports, runs each as a Job, and writes the result to its status.

Level-based: on any event, a worker observes the current state, decides (pure functions) and acts.
Every step can be repeated, and the process may stop between any two of them.
"""

from __future__ import annotations
