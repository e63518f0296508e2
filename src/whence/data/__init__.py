"""Texts with their labels: users' tables, native formats, synthetic corpora whose deciding words are known."""
