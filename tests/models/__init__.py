"""Real models that unit, exporter and end-to-end tests share.

`code/` holds what a user would put into `model.code`: modules that import nothing of this project.
"""
