"""What is written about a run: report.json, report.html, provenance, Triton configuration.

Report -> `page.page_of` (frozen values; all decisions and geometry are made here) -> template. The
page is one file without scripts and without requests, and escapes everything that it did not write.
"""
