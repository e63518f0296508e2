"""File formats: text, CSV and TSV, JSONL and Parquet, CoNLL-U."""
