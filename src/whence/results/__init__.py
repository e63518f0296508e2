"""Results: a tidy table and a manifest, cached by content hash. Imports no torch."""
