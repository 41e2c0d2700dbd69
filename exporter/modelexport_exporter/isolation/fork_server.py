"""The first thing that the fork server imports: it ends with the supervisor, by a signal.

multiprocessing's own way is a pipe that closes with the supervisor, but every worker holds that
pipe open as well, so a worker that hangs would keep the server, and so itself, alive. Nor is an
orderly exit wanted: libraries would print what they think they leaked over the verdict.
"""

from __future__ import annotations

from modelexport_exporter.isolation.child import die_with_parent

die_with_parent()
