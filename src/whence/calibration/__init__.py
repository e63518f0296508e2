"""The bench of the audit: models whose answers are known by construction, audited, and the verdicts counted."""
