"""Imported first by the fork server, so that a signal ends it with the supervisor.

multiprocessing ends the server when a pipe to the supervisor closes, but every worker holds that
pipe open too, so a hanging worker would keep the server, and therefore itself, alive. A signal also
avoids an orderly exit, in which libraries print warnings after the verdict.

It is a subreaper: what workers leave behind becomes a child of it, where the supervisor finds it.
multiprocessing warns about each of them when it ends.
"""

from __future__ import annotations

import warnings

from modelexport_exporter.isolation.child import die_with_parent
from modelexport_exporter.isolation.descendants import become_subreaper

die_with_parent()
become_subreaper()
warnings.filterwarnings("ignore", message="forkserver: waitpid returned unexpected pid")
