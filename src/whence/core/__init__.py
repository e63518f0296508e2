"""The mechanism: sites, watching, overriding. Knows torch and nothing else."""
