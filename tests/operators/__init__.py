"""All of torch's own operators through the product: `python -m operators --help`."""
