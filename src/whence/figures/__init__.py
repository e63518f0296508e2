"""Figures: a table becomes a picture. Imports no torch."""
