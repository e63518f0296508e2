"""Experiments, one file per question. Importing them needs no torch: a saved table is drawn and judged without it."""
