"""Texts with their labels: users' tables, native formats, embedded corpora whose answers are known."""
