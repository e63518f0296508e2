"""What runs models for experiments: examples, replaced attention, erased tokens, retrained models, cached results."""
