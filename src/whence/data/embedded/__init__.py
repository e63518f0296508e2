"""Corpora made by the project itself, for which it is known which words decide the label."""
