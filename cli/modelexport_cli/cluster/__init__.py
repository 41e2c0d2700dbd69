"""The commands that work on a cluster, and the client behind them.

`client` and `follow` are the only files that send requests; what is sent, shown and returned is
decided by pure functions in the other files.
"""
