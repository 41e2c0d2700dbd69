"""The command `modelexport`. A subcommand imports only what it needs."""
