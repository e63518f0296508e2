"""Lexicons, lemmas, words, word vectors."""
