"""Calls that torch.export cannot capture, or captures with fixed sizes, and their replacements."""
