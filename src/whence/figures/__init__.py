"""Figures: a table becomes a picture. Knows nothing of torch."""
