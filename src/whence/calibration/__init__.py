"""The audit measured: models whose answers are known by construction, audited, and the verdicts counted."""
