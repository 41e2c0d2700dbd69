"""The operator, killed and cut off while exports run on a real control plane."""
