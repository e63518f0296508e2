"""Reproductions of papers: study files, running them, comparing our numbers with the published ones, the ledger."""
