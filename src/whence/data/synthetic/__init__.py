"""Corpora made on the spot, whose right answers and deciding words are known; planted shortcuts."""
