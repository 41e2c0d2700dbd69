"""Declared shapes of outputs: compared with what runs returned, and corrected."""
