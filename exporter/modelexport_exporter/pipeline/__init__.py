"""The run of one resource: fetch, try the rungs of the ladder, verify, publish.

Runs in the supervisor, which never imports torch; workers do what needs it.
"""
