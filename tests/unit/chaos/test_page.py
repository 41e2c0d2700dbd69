from __future__ import annotations

from chaos.journal import Row
from chaos.page import compose, section

KILLS = section(
    "kills", "Kills", "Text.", [Row("kills", "SIGKILL", 3, 2, lost=1, remarks="seed 0")]
)
FAULTS = section("faults", "Faults", "Text.", [Row("faults", "a lost answer", 5, 5)])


def test_a_row_has_its_counts() -> None:
    assert "| SIGKILL | 3 | 2 | 1 | 0 | 0 | 0 | seed 0 |" in KILLS


def test_a_part_that_was_not_run_keeps_its_section() -> None:
    both = compose({"kills": KILLS, "faults": FAULTS}, "")
    assert compose({}, both) == both
    again = section("kills", "Kills", "Text.", [Row("kills", "SIGKILL", 9, 9)])
    page = compose({"kills": again}, both)
    assert "| SIGKILL | 9 | 9 |" in page
    assert FAULTS.strip() in page
