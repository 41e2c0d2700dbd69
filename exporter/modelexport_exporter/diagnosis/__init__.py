"""Why a model does not export, or not rightly: operators without a translation, and pitfalls.

Everything here explains; nothing here decides whether an export succeeds. That is the verdict's.
"""
