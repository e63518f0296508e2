"""Figures from tables. Imports no torch."""
