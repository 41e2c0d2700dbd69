"""Worker processes: everything that holds weights or runs a user's code happens in one.

Guarantees that a worker which raises, exits, hangs, is killed or runs out of memory ends as a
failure with its own reason, that it never outlives the supervisor, and that both know the limits of
the container that they run in.
"""
