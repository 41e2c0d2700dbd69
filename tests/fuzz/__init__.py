"""Random models as users write them, each through the whole pipeline and judged apart."""
