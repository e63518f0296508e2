"""The kinds of case, one file per family."""
