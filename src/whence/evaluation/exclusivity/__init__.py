"""Exclusivity: other attention that gives the same prediction, searched at one site with gradients."""
