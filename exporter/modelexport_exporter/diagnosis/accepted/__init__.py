"""What forward accepts, after it refused a call that the spec declares."""
