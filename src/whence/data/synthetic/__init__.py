"""Generated corpora, whose labels and deciding words are known: one file each."""
