"""Faithfulness by removal: inputs are removed from texts in some order, and the model's decision is followed."""
