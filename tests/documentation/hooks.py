"""What mkdocs calls while it builds the site."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

# mkdocs imports this file by its path.
sys.path.insert(0, str(Path(__file__).parents[1]))

from mkdocs.structure.files import File, Files, InclusionLevel

from documentation.navigation import navigation
from documentation.repository import FOLDER, linked, page_of, rewritten

ROOT = Path(__file__).parents[2]
_PIPE_IN_CODE = re.compile(r"`[^`\n]*\\\|[^`\n]*`")


def on_config(config: Any) -> Any:  # noqa: ANN401 - mkdocs is not typed
    """Read the navigation."""
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    config.nav = navigation(index)
    return config


def on_files(files: Files, *, config: Any) -> Files:  # noqa: ANN401
    """Add the files outside of docs/ that pages link to."""
    pages = [f"docs/{file.src_uri}" for file in files.documentation_pages()]
    for path, text in linked(ROOT, pages).items():
        inclusion = InclusionLevel.NOT_IN_NAV
        files.append(File.generated(config, page_of(path), content=text, inclusion=inclusion))
    return files


def on_page_markdown(markdown: str, *, page: Any, **_: object) -> str:  # noqa: ANN401
    """Point links to the site's pages. A pipe in code in a table needs no backslash here."""
    source = page.file.src_uri
    outside = source.startswith(f"{FOLDER}/")
    place = source.removeprefix(f"{FOLDER}/") if outside else f"docs/{source}"
    if not (ROOT / place).exists():  # made of a file that is no page
        return markdown
    text = rewritten(markdown, place)
    return _PIPE_IN_CODE.sub(lambda found: found.group().replace("\\|", "|"), text)


def on_post_build(*, config: Any) -> None:  # noqa: ANN401
    """Write the index of the search as a script too: from file:// nothing else may be read."""
    folder = Path(config.site_dir) / "search"
    index = (folder / "search_index.json").read_text(encoding="utf-8")
    (folder / "search_index.js").write_text(f"var __index = {index}", encoding="utf-8")
