"""What is lost, done twice or left behind when parts of the system fail; see docs/reliability.md.

A part is a package here with a module `part`, which has TITLE, TEXT and `run(count, seed)`.
"""
