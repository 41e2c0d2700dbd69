"""Imported first by the fork server, which ends with the supervisor while it imports the rest."""

from __future__ import annotations

from modelexport_exporter.isolation.prctl import die_with_parent

die_with_parent()
