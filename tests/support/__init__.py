"""What several tests share: models, corpora, tokenizers, a command line, a browser."""
