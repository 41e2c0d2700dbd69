"""Imported first by the fork server, which ends with the supervisor while it imports the rest."""

from __future__ import annotations

import os

from modelexport_exporter.isolation.prctl import SUPERVISOR_ENV, die_with_parent

die_with_parent()
if os.environ.pop(SUPERVISOR_ENV, str(os.getppid())) != str(os.getppid()):
    # It ended before that signal was set up.
    os._exit(1)
