"""Partial recomputation: run again only what lies after an edited attention site or hidden state."""
