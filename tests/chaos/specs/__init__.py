"""Random specs, admitted by an API server, and random courses of their Jobs and pods."""
