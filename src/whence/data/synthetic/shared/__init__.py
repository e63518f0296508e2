"""What synthetic corpora are made of: words of a grammar, events of a story."""
