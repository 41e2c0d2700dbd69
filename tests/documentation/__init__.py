"""The documentation site: what is generated for it, and how its pages become a site."""
