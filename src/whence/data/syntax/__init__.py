"""Dependency trees: where they come from, random baselines, and the attention a tree would have."""
