"""Two processes that publish to one place, in the orders of their calls for keys that both use."""
