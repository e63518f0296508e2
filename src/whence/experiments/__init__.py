"""Experiments, one file per question. Importing them needs no torch, so saved tables can be plotted without it."""
