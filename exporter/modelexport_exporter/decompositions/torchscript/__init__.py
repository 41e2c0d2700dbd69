"""What the TorchScript exporter cannot translate, in a form that it can."""
