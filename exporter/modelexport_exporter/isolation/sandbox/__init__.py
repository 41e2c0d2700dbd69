"""The sandbox of processes that run user code: Landlock, seccomp and limits, unprivileged.

Guarantees, as far as the kernel can: no read of credentials, of other runs and of other processes,
no write outside of the run's directory and the caches of libraries, no signal to the supervisor, no
network unless the manifest opens it. What was in force is reported by the supervisor, which asks
the kernel itself. docs/isolation.md has the list, and what remains.
"""
