"""Probing tasks: questions about sentences, made from a treebank."""
