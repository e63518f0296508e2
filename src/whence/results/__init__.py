"""Results: a tidy table and a manifest, in a folder named by what made it. Knows nothing of torch."""
