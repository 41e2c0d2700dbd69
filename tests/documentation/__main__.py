"""Write what is generated for the site: `python -m documentation reference` (or another word)."""

from __future__ import annotations

import argparse
from pathlib import Path

from documentation import chart_values, command_line, fields, report_schema

DOCS = Path(__file__).parents[2] / "docs"
PAGES = {
    DOCS / "reference" / "command.md": command_line.page,
    DOCS / "reference" / "fields.md": fields.page,
    DOCS / "reference" / "report-json.md": report_schema.page,
    DOCS / "reference" / "values.md": chart_values.page,
}


def main() -> None:
    """Write the pages of the reference, or the pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("reference", "pictures", "dashboard"))
    what = parser.parse_args().what
    if what == "pictures":
        from documentation.pictures import write_pictures

        write_pictures(DOCS / "pictures")
        return
    if what == "dashboard":
        from monitoring.picture import write_picture

        write_picture(DOCS / "pictures" / "dashboard.svg")
        return
    for path, page in PAGES.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
