"""report.html: what report.json holds, as a page that people show each other.

Report -> `page.page_of` (frozen values; all decisions and geometry are made here) -> template. The
page is one file without scripts, without requests, and with everything foreign escaped.
"""
