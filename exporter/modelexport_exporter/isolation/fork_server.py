"""Imported first by the fork server, so that a signal ends it with the supervisor.

multiprocessing ends the server when a pipe to the supervisor closes, but every worker holds that
pipe open too, so a hanging worker would keep the server, and therefore itself, alive. A signal also
avoids an orderly exit, in which libraries print warnings after the verdict.
"""

from __future__ import annotations

from modelexport_exporter.isolation.child import die_with_parent

die_with_parent()
