"""Imported first by the fork server, which ends with the supervisor while it imports the rest."""

from __future__ import annotations

import os
import signal

from modelexport_exporter.isolation.prctl import SUPERVISOR_ENV, die_with_parent

die_with_parent()
# Ctrl-C reaches the whole group of a terminal: the supervisor ends this process.
signal.signal(signal.SIGINT, signal.SIG_IGN)
if os.environ.pop(SUPERVISOR_ENV, str(os.getppid())) != str(os.getppid()):
    # It ended before that signal was set up.
    os._exit(1)
