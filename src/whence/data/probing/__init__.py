"""Probing tasks: properties of sentences to predict, built from a treebank."""
